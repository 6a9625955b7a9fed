import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { readRepositoryFile, repositoryRoot } from "./repository-files.ts";

it("the lint finds a promise of another package that nobody awaits", () => {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-lint-"));
  try {
    // The house's own rules, without the line that leaves this fixture out.
    const config = { ...JSON.parse(readRepositoryFile(".oxlintrc.json")), ignorePatterns: [] };
    writeFileSync(join(folder, "oxlintrc.json"), JSON.stringify(config));
    const linted = spawnSync(
      process.execPath,
      [
        "node_modules/oxlint/bin/oxlint",
        "--type-aware",
        "--format=json",
        "-c",
        join(folder, "oxlintrc.json"),
        "packages/testkit/fixtures",
      ],
      { cwd: repositoryRoot, encoding: "utf8", timeout: 50_000 },
    );
    const { diagnostics } = JSON.parse(linted.stdout) as { readonly diagnostics: readonly { readonly code: string }[] };
    expect(diagnostics.map(({ code }) => code)).toEqual(["typescript(no-floating-promises)"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
