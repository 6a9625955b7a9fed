import { defineConfig } from "vitest/config";

const sources = ["packages/*/src/**", "apps/*/src/**"];

export default defineConfig({
  test: {
    // The suites with servers mostly wait: one worker a core would leave a small machine idle.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: "pure",
          include: sources.map((folder) => `${folder}/*.test.ts`),
          // Simulations take seconds, and several times that on a busy machine.
          testTimeout: 60_000,
          exclude: ["**/*.integration.test.ts", "**/*.e2e.test.ts", "packages/testkit/**"],
        },
      },
      {
        test: {
          name: "architecture",
          include: ["packages/testkit/src/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "integration",
          include: sources.map((folder) => `${folder}/*.integration.test.ts`),
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: sources.map((folder) => `${folder}/*.e2e.test.ts`),
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
