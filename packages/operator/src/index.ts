export { addRescoreCommand, addResumeCommand, addRetryCommand } from "./retry.ts";
