import { posix } from "node:path";

/** A text file of the repository. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** What a document may name. */
export interface NameableThings {
  /** Every file of the repository. */
  readonly paths: readonly string[];
  /** Patterns of .gitignore: what a program makes, and a clone does not hold. */
  readonly ignored: readonly string[];
  /** Scripts of the root package.json. */
  readonly scripts: readonly string[];
  /** Subcommands of the program, and every option its source names, with the dashes. */
  readonly commands: readonly string[];
  readonly options: readonly string[];
  /** The text in which an environment variable must occur: shipped source, scripts, compose file. */
  readonly source: string;
}

const npmOwnCommands = new Set(["ci", "install", "exec", "start", "test", "run", "i"]);
const rootFolders = /^(?:\.ci|\.github|apps|bench|docs|examples|packages|prisma|scripts|src|results|\.hallumaze)\//;

/** Gives one sentence for each thing that a Markdown document names in code or links to, and that does not exist. */
export function findFalseNames(document: TextFile, things: NameableThings): string[] {
  const code = codeOf(document.text);
  return [
    ...namedPaths(document.text, code)
      .filter((path) => !pathExists(document.path, path, things))
      .map((path) => `no file ${path}`),
    ...namedScripts(code)
      .filter((script) => !things.scripts.includes(script))
      .map((script) => `no npm script ${script}`),
    ...programLines(code).flatMap((words) => falseWords(words, things)),
    ...namedVariables(code)
      .filter((name) => !things.source.includes(name))
      .map((name) => `no variable ${name}`),
  ].map((problem) => `${document.path}: ${problem}`);
}

/** The contents of code spans and fences, one a line or as they stand. */
function codeOf(markdown: string): string {
  const fences = Array.from(markdown.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm), (match) => match[1] ?? "");
  const prose = markdown.replace(/^```[^\n]*\n[\s\S]*?^```/gm, "");
  const spans = Array.from(prose.matchAll(/`([^`\n]+)`/g), (match) => match[1] ?? "");
  return [...fences, ...spans].join("\n");
}

function namedPaths(markdown: string, code: string): string[] {
  const links = Array.from(markdown.matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g), (match) => match[1] ?? "");
  const words = code
    // What a command is told to write need not be there.
    .replace(/--output \S+/g, "")
    .split(/[\s"'=,;()|]+/)
    .filter((word) => /^(?:\.{1,2}\/)/.test(word) || rootFolders.test(word) || isRootFile(word));
  return [...links, ...words].map((path) => path.replace(/[.:]$/, ""));
}

function isRootFile(word: string): boolean {
  return /^[\w.-]+\.(?:md|json|ya?ml|cff|ts|toml)$/.test(word) && !/^(?:sweep|my|x|out|reply)[\w-]*\./.test(word);
}

function pathExists(document: string, path: string, things: NameableThings): boolean {
  const candidates = [posix.normalize(path), posix.join(posix.dirname(document), path)].map((each) =>
    each.replace(/\/$/, ""),
  );
  const ignored = things.ignored.map((pattern) => pattern.replace(/\/$/, ""));
  return candidates.some((candidate) => {
    if (ignored.some((pattern) => candidate === pattern || candidate.startsWith(`${pattern}/`))) return true;
    const pattern = new RegExp(`^${candidate.split("*").map(escapeForRegExp).join("[^/]*")}(?:/|$)`);
    return things.paths.some((existing) => pattern.test(existing));
  });
}

function namedScripts(code: string): string[] {
  return Array.from(code.matchAll(/\bnpm (run )?([a-z][\w:-]*)/g), (match) => ({
    isRun: match[1] !== undefined,
    name: match[2] ?? "",
  }))
    .filter(({ isRun, name }) => isRun || name === "start" || name === "test" || !npmOwnCommands.has(name))
    .map(({ name }) => name);
}

/** The words after each call of the program, as far as its line goes. */
function programLines(code: string): string[][] {
  const calls = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx |npm run )?hallumaze(?= |$)(?: +-- )? *(.*)$/gm;
  return Array.from(code.matchAll(calls), (match) =>
    (match[1] ?? "")
      .replace(/ #.*$|[|&>].*$/g, "")
      .split(/\s+/)
      .filter(Boolean),
  );
}

function falseWords(words: readonly string[], things: NameableThings): string[] {
  const [command] = words;
  const options = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? []);
  return [
    ...(command === undefined || command.startsWith("-") || things.commands.includes(command)
      ? []
      : [`no command hallumaze ${command}`]),
    ...options.filter((option) => !things.options.includes(option)).map((option) => `no option ${option}`),
  ];
}

function namedVariables(code: string): string[] {
  return [...new Set(code.match(/(?<![\w/.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w/])/g) ?? [])];
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Finds what belongs to one machine or one registry: home folders, and hosts that serve packages. */
export function findForeignPlaces(file: TextFile): string[] {
  const lines = file.text.split("\n");
  return lines.flatMap((line, index) => {
    const found = foreignPlace.exec(line);
    return found === null ? [] : [`${file.path}:${index + 1} names ${found[0]}`];
  });
}

const foreignPlace = new RegExp(
  [
    "(?<![\\w.])/(?:root|work)/\\w",
    "(?<![\\w.])/(?:home|Users)/[a-z]\\w*/",
    "[A-Z]:\\\\Users",
    "registry\\.(?:npmjs|yarnpkg|npmmirror)",
  ].join("|"),
);
