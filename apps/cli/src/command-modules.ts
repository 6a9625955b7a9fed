import type { AddCommand } from "@hallumaze/console";

import { programVersion } from "./env.ts";

/** Commands that are loaded together, when one of them is named. */
interface CommandModule {
  /** Their names; none for options that stand without a command. */
  readonly names: readonly string[];
  readonly load: () => Promise<readonly AddCommand[]>;
}

/** Every command, in the order of the help. */
export const commandModules: readonly CommandModule[] = [
  { names: ["run"], load: async () => [(await import("./commands/run.ts")).addRunCommand] },
  {
    names: ["plan", "schema"],
    load: async () => {
      const { addPlanCommand, addSchemaCommand } = await import("./commands/plan.ts");
      return [addPlanCommand, addSchemaCommand];
    },
  },
  { names: ["submit"], load: async () => [(await import("./commands/submit.ts")).addSubmitCommand] },
  { names: ["worker"], load: async () => [(await import("./commands/worker.ts")).addWorkerCommand] },
  { names: ["serve"], load: async () => [(await import("./commands/serve.ts")).addServeCommand] },
  { names: ["site"], load: async () => [(await import("@hallumaze/hosting")).addSiteCommand(programVersion)] },
  { names: ["status"], load: async () => [(await import("./commands/status.ts")).addStatusCommand] },
  {
    names: [
      "retry",
      "pause",
      "resume",
      "cancel",
      "prioritize",
      "lanes",
      "reconcile",
      "rescore",
      "backup",
      "restore",
      "prune",
    ],
    load: async () => {
      const operator = await import("@hallumaze/operator");
      return [
        operator.addRetryCommand,
        operator.addPauseCommand,
        operator.addResumeCommand,
        operator.addCancelCommand,
        operator.addPrioritizeCommand,
        operator.addLanesCommand,
        operator.addReconcileCommand,
        operator.addRescoreCommand,
        operator.addBackupCommand,
        operator.addRestoreCommand,
        operator.addPruneCommand,
      ];
    },
  },
  {
    names: ["report", "analyze", "bundle", "replay", "import"],
    load: async () => {
      const analyst = await import("@hallumaze/analyst");
      return [
        analyst.addReportCommand(programVersion),
        analyst.addAnalyzeCommand,
        analyst.addBundleCommand(programVersion),
        analyst.addReplayCommand,
        analyst.addImportCommand,
      ];
    },
  },
  { names: ["export"], load: async () => [(await import("./commands/export.ts")).addExportCommand] },
  { names: ["judge"], load: async () => [(await import("./commands/judge.ts")).addJudgeCommand] },
  {
    names: ["maze", "score"],
    load: async () => {
      const { addMazeCommand, addScoreCommand } = await import("./commands/maze-and-score.ts");
      return [addMazeCommand, addScoreCommand];
    },
  },
  { names: ["doctor"], load: async () => [(await import("./commands/doctor.ts")).addDoctorCommand] },
  {
    names: ["mock-providers"],
    load: async () => [(await import("./commands/mock-providers.ts")).addMockProvidersCommand],
  },
  { names: [], load: async () => [(await import("./seed/seed-command.ts")).addSeedOptions] },
];
