import { posix } from "node:path";

/** One workspace as its files say: paths are relative to the repository, with `/`. */
export interface Workspace {
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** Folders that tsconfig.json refers to, relative to the repository. */
  readonly references: readonly string[];
  /** `compilerOptions.types` of tsconfig.json. */
  readonly types: readonly string[];
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** The layers, lowest first: a package imports only from earlier rows, so packages of one row never import each other. */
export const layers: readonly (readonly string[])[] = [
  ["foundation"],
  ["display", "maze"],
  ["protocol", "statistics"],
  ["judge", "metrics", "solvers", "sweep"],
  ["ariadne"],
  ["trials"],
  ["experiments"],
  ["contract", "detectors", "engine", "mock-providers", "reports", "servers"],
  ["batching", "imports", "judging", "watching"],
  ["analysis", "steering"],
  ["viewing"],
  ["figures", "limiter", "providers", "publishing", "queue", "store", "telemetry"],
  ["archive", "batch-providers", "ledger-views"],
  ["testkit"],
  ["runtime"],
  ["console"],
  ["analyst", "api", "operator", "web"],
  ["hosting"],
  ["cli", "worker"],
];

/** Packages without I/O: with `types: []` a use of Node is a type error. */
const purePackages = new Set([
  "ariadne",
  "detectors",
  "display",
  "experiments",
  "foundation",
  "maze",
  "protocol",
  "statistics",
  "judge",
  "metrics",
  "solvers",
  "sweep",
  "trials",
]);
/** All that the page may import: what the service says, and how it is shown. No code of the service reaches a browser. */
const ofThePage = new Set(["contract", "display"]);
const limits = { filesOfAPackage: 25, linesOfAFile: 400 };
const scope = "@hallumaze/";

/** Gives one sentence for each breach of the house's rules; an empty list where all hold. */
export function findBreaches(workspaces: readonly Workspace[]): string[] {
  const folders = new Map(workspaces.map((workspace) => [workspace.name, workspace.folder]));
  return workspaces.flatMap((workspace) => [
    ...workspace.files.flatMap((file) => [...fileBreaches(workspace, file), ...forbiddenPart(workspace, file)]),
    ...manifestBreaches(workspace, folders),
  ]);
}

function fileBreaches(workspace: Workspace, file: Workspace["files"][number]): string[] {
  const breaches: string[] = [];
  const lineCount = file.text.trimEnd().split("\n").length;
  if (lineCount > limits.linesOfAFile) breaches.push(`${file.path} has ${lineCount} lines`);
  for (const target of importsOf(file.text)) {
    const problem = target.startsWith(".")
      ? relativeProblem(workspace, file.path, target)
      : target.startsWith(scope)
        ? packageProblem(workspace, file.path, target)
        : null;
    if (problem !== null) breaches.push(`${file.path} imports ${target}: ${problem}`);
  }
  return breaches;
}

/**
 * Parts of BullMQ that lose or stop work, each by a public thread (packages/queue/faults.md): what counts is in the
 * ledger, and no cell waits for another's job.
 */
const forbiddenParts: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\bFlowProducer\b/, "a parent waits for ever for a child that is gone"],
  [/\bQueueEvents\b/, "events are trimmed and missed; count in the ledger"],
  [/\bwaitUntilFinished\b/, "it hangs where the job was removed"],
  [/\bjob\.log\s*\(/, "lines get lost on Postgres; log with the logger"],
  [/\bobliterate\s*\(/, "refused, it leaves the queue paused"],
  [/\bremoveRateLimitKey\b|\bRateLimitError\b|\blimiter:\s*\{\s*max\b/, "the shared limiter paces, not the queue"],
];

function forbiddenPart(workspace: Workspace, { path, text }: Workspace["files"][number]): string[] {
  const isShipped = path.startsWith(`${workspace.folder}/src/`) && !path.endsWith(".test.ts");
  if (!isShipped || shortName(workspace.name) === "testkit") return [];
  const found = forbiddenParts.filter(([pattern]) => pattern.test(text));
  return found.map(([pattern, why]) => `${path} uses ${pattern.source}: ${why}`);
}

function relativeProblem(workspace: Workspace, from: string, target: string): string | null {
  const resolved = posix.join(posix.dirname(from), target);
  if (!resolved.startsWith(`${workspace.folder}/`)) return "outside its own package";
  if (resolved.includes("/generated/") && shortName(workspace.name) !== "store") return "generated code is the store's";
  return null;
}

function packageProblem(workspace: Workspace, from: string, target: string): string | null {
  const name = target.split("/").slice(0, 2).join("/");
  if (name !== target) return "a deep import";
  const isShipped = from.startsWith(`${workspace.folder}/src/`) && !from.endsWith(".test.ts");
  if (name === workspace.name) return isShipped ? "its own entrance" : null;
  const declared = isShipped ? workspace.dependencies : [...workspace.dependencies, ...workspace.devDependencies];
  if (!declared.includes(name)) return "not declared in package.json";
  if (!isShipped && name === `${scope}testkit`) return null;
  if (name === `${scope}testkit`) return "the testkit is for tests";
  return isAllowed(workspace.name, name) ? null : "against the layers";
}

function manifestBreaches(workspace: Workspace, folders: ReadonlyMap<string, string>): string[] {
  const { folder, name } = workspace;
  const sources = workspace.files.filter(
    ({ path }) => path.startsWith(`${folder}/src/`) && !/\.test\.tsx?$/.test(path) && !path.includes("/generated/"),
  );
  const declared = workspace.dependencies.filter((dependency) => dependency.startsWith(scope));
  const expected = declared.map((dependency) => folders.get(dependency) ?? dependency).toSorted();
  return [
    ...(layerOf(name) < 0 ? [`${name} stands in no layer`] : []),
    ...declared
      .filter((dependency) => !isAllowed(name, dependency))
      .map((to) => `${name} declares ${to}: against the layers`),
    ...(sources.length > limits.filesOfAPackage ? [`${name} has ${sources.length} source files`] : []),
    ...(expected.join() === workspace.references.toSorted().join()
      ? []
      : [
          `${folder}/tsconfig.json refers to [${workspace.references.join()}], its package.json asks for [${expected.join()}]`,
        ]),
    ...(purePackages.has(shortName(name)) && workspace.types.length > 0
      ? [`${name} is pure and has types [${workspace.types.join()}]`]
      : []),
  ];
}

function isAllowed(from: string, to: string): boolean {
  if (shortName(from) === "web") return ofThePage.has(shortName(to));
  return layerOf(to) >= 0 && layerOf(to) < layerOf(from) && shortName(to) !== "testkit";
}

function layerOf(name: string): number {
  return layers.findIndex((row) => row.includes(shortName(name)));
}

function shortName(name: string): string {
  return name.slice(scope.length);
}

function importsOf(text: string): string[] {
  const pattern = /^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/gm;
  return Array.from(text.matchAll(pattern), (match) => match[1] ?? match[2] ?? "");
}
