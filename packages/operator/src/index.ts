export { addBackupCommand, addRestoreCommand } from "./backup.ts";
export { describeControl, describeSteering } from "./lane-reports.ts";
export { addLanesCommand } from "./lanes.ts";
export { addPruneCommand } from "./prune.ts";
export { addReconcileCommand } from "./reconcile.ts";
export { addRescoreCommand, addRetryCommand } from "./retry.ts";
export { addCancelCommand, addPauseCommand, addPrioritizeCommand, addResumeCommand } from "./steer.ts";
