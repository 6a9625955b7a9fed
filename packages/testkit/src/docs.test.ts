import { describe, expect, it } from "vitest";

import { findFalseNames, findForeignPlaces, type NameableThings } from "./document-rules.ts";
import { listRepositoryFiles, readRepositoryFile, readWorkspaces } from "./repository-files.ts";

const paths = listRepositoryFiles();
const workspaces = readWorkspaces();
const manifest = JSON.parse(readRepositoryFile("package.json")) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
};
const things = nameableThings();
const documents = paths.filter((path) => path.endsWith(".md"));

describe("documents name what exists", () => {
  it.each(documents)("%s", (path) => {
    expect(findFalseNames({ path, text: readRepositoryFile(path) }, things)).toEqual([]);
  });

  it("knows the program's commands and options", () => {
    expect(things.commands).toContain("run");
    expect(things.options).toContain("--role");
  });
});

describe("every part is described", () => {
  it.each(workspaces.map(({ folder }) => folder))("%s has a README of at most 40 lines", (folder) => {
    expect(paths).toContain(`${folder}/README.md`);
    expect(readRepositoryFile(`${folder}/README.md`).trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  });

  it.each(["CHANGELOG.md", "CITATION.cff"])("%s names the version of package.json", (path) => {
    expect(readRepositoryFile(path)).toMatch(
      new RegExp(`(?:\\[|: )${manifest.version.replaceAll(".", "\\.")}(?:\\]|$)`, "m"),
    );
  });

  it("every decision stands on one page", () => {
    const decisions = paths.filter((path) => path.startsWith(".github/decisions/"));
    expect(decisions.length).toBeGreaterThanOrEqual(7);
    for (const path of decisions) expect(readRepositoryFile(path).split("\n").length, path).toBeLessThanOrEqual(60);
  });
});

it("nothing names a machine's folder or a registry's host", () => {
  const texts = paths
    .filter((path) => !/\.(?:png|ico|woff2?)$/.test(path))
    .map((path) => ({ path, text: readRepositoryFile(path) }));
  expect(texts.flatMap(findForeignPlaces)).toEqual([]);
});

describe("reports", () => {
  const known: NameableThings = {
    paths: ["README.md", "packages/maze/src/index.ts", "prisma/migrations/1_start/migration.sql"],
    ignored: [".hallumaze/"],
    scripts: ["check", "start"],
    commands: ["run"],
    options: ["--fresh"],
    source: "REDIS_URL",
  };

  it.each([
    ["a file", "see `packages/maze/src/core.ts`", "no file packages/maze/src/core.ts"],
    ["a file of the root", "see `SECURITY.md`", "no file SECURITY.md"],
    ["a link", "[plan](docs/plan.md)", "no file docs/plan.md"],
    ["an npm script", "`npm run build`", "no npm script build"],
    ["an npm script in a fence", "```sh\nnpm run check\nnpm run lint\n```", "no npm script lint"],
    ["a command", "```sh\nnpx hallumaze judge x\n```", "no command hallumaze judge"],
    ["a command in a span", "`hallumaze bundle`", "no command hallumaze bundle"],
    ["an option", "```\nREDIS_URL=x hallumaze run sweep.yaml --fast # quick\n```", "no option --fast"],
    ["a variable", "set `MONGO_URL`", "no variable MONGO_URL"],
  ])("%s that does not exist", (_title, text, problem) => {
    expect(findFalseNames({ path: "README.md", text }, known)).toEqual([`README.md: ${problem}`]);
  });

  it("nothing on what exists", () => {
    const text = [
      "`npm start`, `npm run check`, `npm ci`, `REDIS_URL`, `hallumaze --help`, `.hallumaze/`, `src/index.ts`, [top](../../README.md)",
      "`prisma/migrations/*/migration.sql`, [web](https://example.org/a.md)",
      "```sh\nnpx hallumaze run packages/maze/src/index.ts --fresh # again\n```",
    ].join("\n");
    const problems = findFalseNames(
      { path: "packages/maze/README.md", text },
      { ...known, options: ["--fresh", "--help"] },
    );
    expect(problems).toEqual([]);
  });

  it.each([
    ["", "root", "project"].join("/"),
    ["", "work", "main", "x"].join("/"),
    ["", "home", "kim", "x"].join("/"),
    ["https://registry", "npmjs.org/x"].join("."),
    ["C:", "Users", "kim"].join("\\"),
  ])("the foreign place %s", (place) => {
    expect(findForeignPlaces({ path: "a.ts", text: `const place = "${place}";` })).toHaveLength(1);
  });
});

function nameableThings(): NameableThings {
  const shipped = paths.filter(
    (path) => /^(?:packages|apps)\/.*\.(?:ts|mjs|js)$/.test(path) && !path.endsWith(".test.ts"),
  );
  const program = shipped
    .filter((path) => /^(?:apps\/cli|packages\/(?:analyst|hosting|operator))\//.test(path))
    .map(readRepositoryFile)
    .join("\n");
  const others = ["docker-compose.yml", ".ci/run", "turbo.env", "vitest.config.ts"].filter((path) =>
    paths.includes(path),
  );
  const workspaceScripts = paths
    .filter((path) => /^(?:packages|apps)\/[^/]+\/package\.json$/.test(path))
    .flatMap((path) => Object.keys((JSON.parse(readRepositoryFile(path)) as { scripts?: object }).scripts ?? {}));
  return {
    paths,
    ignored: readRepositoryFile(".gitignore").split("\n").filter(Boolean),
    scripts: [...Object.keys(manifest.scripts), ...workspaceScripts],
    commands: Array.from(program.matchAll(/\.command\(\s*"([a-z-]+)/g), (match) => match[1] ?? ""),
    options: [
      "--help",
      "--version",
      ...Array.from(program.matchAll(/"(?:-\w, )?(--[a-z][a-z-]*)/g), (match) => match[1] ?? ""),
    ],
    source: [...shipped, ...others].map(readRepositoryFile).join("\n"),
  };
}
