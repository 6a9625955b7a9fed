// Works out a sweep's experiments in a process of its own: they take seconds in which the service has to go on answering.
// What it holds of a large sweep goes with it, and it stands back where the machine has other work.
import { setPriority } from "node:os";

import { answerStudy } from "../src/answer-study.ts";

setPriority(10);

// Whoever asked is gone: nobody is there to be answered.
process.once("disconnect", () => process.exit());
await answerStudy({
  say: (answer) => process.send?.(answer),
  listen: (take) => process.on("message", take),
  close: () => process.disconnect(),
});
