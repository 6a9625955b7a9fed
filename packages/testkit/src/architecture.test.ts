import { expect, it } from "vitest";

import { findBreaches, layers, type Workspace } from "./architecture-rules.ts";
import { readRepositoryFile, readWorkspaces } from "./repository-files.ts";

const workspaces = readWorkspaces();

it("the house holds its own rules", () => {
  expect(workspaces.length).toBeGreaterThanOrEqual(15);
  expect(workspaces.flatMap(({ files }) => files).length).toBeGreaterThan(30);
  expect(findBreaches(workspaces)).toEqual([]);
});

it("every package stands in one layer only", () => {
  expect(new Set(layers.flat()).size).toBe(layers.flat().length);
});

it.each(["tsconfig.json", "tsconfig.tests.json"])("%s refers to every workspace", (path) => {
  const { references } = JSON.parse(readRepositoryFile(path)) as { readonly references: readonly { path: string }[] };
  expect(references.map((reference) => reference.path).toSorted()).toEqual(workspaces.map(({ folder }) => folder));
});

const maze = "@hallumaze/maze";
const engine: Workspace = {
  folder: "packages/engine",
  name: "@hallumaze/engine",
  dependencies: [],
  devDependencies: [],
  references: [],
  types: ["node"],
  files: [],
};
const queue: Workspace = {
  ...engine,
  folder: "packages/queue",
  name: "@hallumaze/queue",
  dependencies: ["@hallumaze/engine"],
  references: ["packages/engine"],
  files: [file("lanes.ts", importOf("@hallumaze/engine")), file("name.ts", importOf("./lanes.ts"))],
};

it("reports nothing on a package that holds the rules", () => {
  const test = file("lanes.test.ts", importOf("@hallumaze/testkit"));
  const tested = { ...queue, devDependencies: ["@hallumaze/testkit"], files: [...queue.files, test] };
  expect(findBreaches([engine, queue])).toEqual([]);
  expect(findBreaches([engine, tested])).toEqual([]);
});

it.each<[title: string, change: Partial<Workspace>, sentence: string]>([
  ["an adapter that imports an adapter", importing("@hallumaze/store"), "store: against the layers"],
  ["an arrow that goes up", importing("@hallumaze/runtime"), "runtime: against the layers"],
  ["the testkit in shipped code", importing("@hallumaze/testkit"), "testkit: the testkit is for tests"],
  ["a declared arrow that no file uses", { dependencies: ["@hallumaze/engine", "@hallumaze/store"] }, "declares"],
  ["an import that is not declared", written(importOf(maze)), "not declared in package.json"],
  ["an import of types", written(`import type {} from "${maze}";`), "not declared"],
  ["an import over several lines", written(`import {\n  draw,\n} from "${maze}";`), "not declared"],
  ["a dynamic import", written(`await import("${maze}");`), "not declared"],
  ["a re-export", written(`export {} from "${maze}";`), "not declared"],
  ["a deep import", written(importOf("@hallumaze/engine/src/outcomes.ts")), "a deep import"],
  ["a package that goes through its own entrance", written(importOf("@hallumaze/queue")), "its own entrance"],
  ["a way round through the folders", written(importOf("../../engine/src/index.ts")), "outside its own package"],
  ["generated code outside the store", written(importOf("./generated/client.ts")), "generated code is the store's"],
  [
    "a test that imports what is not declared",
    { files: [file("a.test.ts", importOf("@hallumaze/testkit"))] },
    "not declared",
  ],
  ["a file over 400 lines", written("export {};\n".repeat(401)), "has 401 lines"],
  [
    "a package over 25 files",
    { files: Array.from({ length: 26 }, (_, at) => file(`part-${at}.ts`, "")) },
    "26 source files",
  ],
  ["a missing reference", { references: [] }, "packages/queue/tsconfig.json refers to []"],
  ["a flow of jobs", written("new FlowProducer({})"), "waits for ever"],
  ["progress by events", written("new QueueEvents(name)"), "count in the ledger"],
  ["a wait for a job", written("await job.waitUntilFinished(events)"), "hangs"],
  ["a log line in a job", written('await job.log("line")'), "lines get lost"],
  ["a queue that is wiped", written("await queue.obliterate({ force: true })"), "leaves the queue paused"],
  [
    "the queue's own limiter",
    written("new Worker(name, run, { limiter: { max: 10, duration: 1000 } })"),
    "the shared limiter",
  ],
  ["a package that stands in no layer", { name: "@hallumaze/shared" }, "stands in no layer"],
  ["a pure package with Node's types", { name: "@hallumaze/sweep" }, "is pure and has types [node]"],
])("reports %s", (_title, change, sentence) => {
  expect(findBreaches([engine, { ...queue, ...change }]).join("\n")).toContain(sentence);
});

function importing(target: string): Partial<Workspace> {
  return { dependencies: ["@hallumaze/engine", target], ...written(importOf(target)) };
}

function written(text: string): Partial<Workspace> {
  return { files: [file("lanes.ts", text)] };
}

function file(name: string, text: string): Workspace["files"][number] {
  return { path: `packages/queue/src/${name}`, text };
}

function importOf(target: string): string {
  return `import {} from "${target}";`;
}
