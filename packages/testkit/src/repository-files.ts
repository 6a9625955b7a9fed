import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

import type { Workspace } from "./architecture-rules.ts";

/** The repository's root folder. */
export const repositoryRoot: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Paths of the files that belong to the repository (tracked, or new and not ignored), sorted, relative to its root. */
export function listRepositoryFiles(): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: repositoryRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(listed.split("\n"))]
    .filter((path) => path !== "" && existsSync(join(repositoryRoot, path)))
    .toSorted();
}

/** Reads a file of the repository as UTF-8 text. */
export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8");
}

/** Reads every workspace under packages/ and apps/ with its TypeScript files; generated code is left out. */
export function readWorkspaces(): readonly Workspace[] {
  const paths = listRepositoryFiles();
  const manifests = paths.filter((path) => /^(?:packages|apps)\/[^/]+\/package\.json$/.test(path));
  return manifests.map((manifest) => readWorkspace(posix.dirname(manifest), paths));
}

function readWorkspace(folder: string, paths: readonly string[]): Workspace {
  const manifest = JSON.parse(readRepositoryFile(`${folder}/package.json`)) as {
    readonly name: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
  };
  const tsconfig = JSON.parse(readRepositoryFile(`${folder}/tsconfig.json`)) as {
    readonly compilerOptions: { readonly types: readonly string[] };
    readonly references: readonly { readonly path: string }[];
  };
  return {
    folder,
    name: manifest.name,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    references: tsconfig.references.map(({ path }) => posix.join(folder, path)),
    types: tsconfig.compilerOptions.types,
    files: paths
      .filter(
        (path) => path.startsWith(`${folder}/`) && /\.(?:tsx?|mjs|js)$/.test(path) && !path.includes("/generated/"),
      )
      .map((path) => ({ path, text: readRepositoryFile(path) })),
  };
}
