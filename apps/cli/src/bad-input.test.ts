import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFile, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { runHeld } from "../test/held-console.ts";

const good = "name: bad\nmodels: [sim/oracle]\nseeds: [1]\nsizes: [5]\n";

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-bad-"));
  writeFileSync(join(folder, "sweep.yaml"), text);
  return folder;
}

describe("a spec that cannot run ends with exit 2, a message that names place and mend, and nothing written", () => {
  it.each([
    ["an unknown key", `${good}sieds: [1]\n`, /sweep\.yaml:5:1 .*sieds.*did you mean "seeds"/],
    ["a wrong type", good.replace("[5]", "[five]"), /sweep\.yaml:4:9 sizes\[0\]/],
    ["an empty grid", good.replace("[1]", "[]"), /sweep\.yaml:3:8 seeds/],
    ["size 2", good.replace("[5]", "[2]"), /sweep\.yaml:4:9 sizes\[0\]: must be at least 3, got 2/],
    ["size 1000", good.replace("[5]", "[1000]"), /sizes\[0\]: must be at most 101, got 1000/],
    ["a negative seed", good.replace("[1]", "[-4]"), /seeds\[0\]/],
    [
      "a duplicate alias",
      good.replace("[sim/oracle]", "[sim/oracle, {model: sim/keyword, as: sim/oracle}]"),
      /models\[1\]/,
    ],
    ["an unknown provider", good.replace("sim/oracle", "sym/oracle"), /unknown provider "sym".*did you mean "sim"/],
    ["an unknown solver", good.replace("sim/oracle", "sim/oracel"), /did you mean "oracle"/],
    ["invalid YAML", "name: bad\nmodels: [sim/oracle\nseeds: [1]\n", /sweep\.yaml:\d+:\d+/],
    ["a key in the spec", `${good}notes: sk-ant-api03-${"x".repeat(40)}\n`, /key/],
    ["a spec of 5 MB", `${good}# ${"x".repeat(5_000_000)}\n`, /1,000,000|too large|longer/],
    ["a judge that is no model", `${good}judge: { models: [oracle] }\n`, /judge\.models\[0\].*no provider\/model/],
    ["an empty file", "", /sweep\.yaml/],
  ])("%s", async (_, text, message) => {
    const folder = folderWith(text);
    for (const command of ["run", "plan", "submit"]) {
      const held = await runHeld([command, "sweep.yaml"], { folder });
      expect([held.code, held.out, held.openedHouse]).toEqual([2, "", false]);
      expect(held.err).toMatch(message);
      expect(held.err).not.toContain("sk-ant");
    }
    expect(await readdir(folder)).toEqual(["sweep.yaml"]);
  });

  it("a missing file is named", async () => {
    const held = await runHeld(["run", "nowhere.yaml"], { folder: folderWith(good) });
    expect(held).toMatchObject({ code: 2, openedHouse: false });
    expect(held.err).toContain("cannot read nowhere.yaml: there is no such file");
  });

  it("a folder in place of a file is named", async () => {
    const held = await runHeld(["plan", "."], { folder: folderWith(good) });
    expect(held).toMatchObject({ code: 2, openedHouse: false });
    expect(held.err).toContain("it is a folder");
  });

  it.runIf(process.platform !== "win32")("a pipe that nobody writes into is left at the first interrupt", async () => {
    const folder = folderWith(good);
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const abort = new AbortController();
    const held = runHeld(["plan", "pipe"], { folder, interrupt: abort.signal });
    setImmediate(() => abort.abort());
    expect(await held).toMatchObject({ code: 130, openedHouse: false });
  });

  it.runIf(process.platform !== "win32")("a pipe is read to its end, however late its writer comes", async () => {
    const folder = folderWith(good);
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const held = runHeld(["plan", "pipe"], { folder });
    setImmediate(() => writeFile(join(folder, "pipe"), "name: bad\nmodels: []\n", () => undefined));
    expect((await held).err).toContain("pipe:2:9 models");
  });

  it.runIf(process.platform === "linux")("a device without an end is refused", async () => {
    const held = await runHeld(["plan", "/dev/zero"], { folder: folderWith(good) });
    expect(held).toMatchObject({ code: 2, openedHouse: false });
    expect(held.err).toContain("/dev/zero is too long; at most 67,108,864 bytes are read.");
  });

  it("a control character of a name does not reach the terminal", async () => {
    const held = await runHeld(["plan", "no\u001b[31mwhere.yaml"], { folder: folderWith(good) });
    expect(held.err).toBe("cannot read no [31mwhere.yaml: there is no such file. Give the path of a file.");
  });
});

describe("a spec whose keys are missing", () => {
  it("names every variable at once, ends with exit 2, and nothing is written or opened", async () => {
    const models =
      "[openai/gpt-4o, anthropic/claude-sonnet-4-6, {model: openai/x, baseUrl: 'http://127.0.0.1:9/v1', keyEnv: MY_KEY}]";
    const folder = folderWith(good.replace("[sim/oracle]", models));
    const held = await runHeld(["run", "sweep.yaml"], { folder, variables: { OPENAI_API_KEY: "  " } });
    expect([held.code, held.out, held.openedHouse]).toEqual([2, "", false]);
    expect(held.err).toContain("set ANTHROPIC_API_KEY, MY_KEY, OPENAI_API_KEY in the environment");
    expect(await readdir(folder)).toEqual(["sweep.yaml"]);
  });
});

describe("words that no command takes end with exit 2", () => {
  it.each([
    ["an unknown command", ["runn", "sweep.yaml"], /unknown command "runn"; did you mean "run"/],
    ["an unknown option", ["run", "sweep.yaml", "--frehs"], /unknown option '--frehs'/],
    ["a size out of range", ["maze", "--size", "2", "--seed", "1"], /3 to 101/],
    ["a negative seed", ["maze", "--size", "5", "--seed", "-1"], /whole number from 0/],
    [
      "an unknown generator",
      ["maze", "--size", "5", "--seed", "1", "--generator", "eller"],
      /dfs, kruskal, wilson, prim/,
    ],
    ["a missing argument", ["run"], /missing required argument 'spec'/],
    [
      "an unknown finish reason",
      ["score", "-", "--size", "5", "--seed", "1", "--finish-reason", "bored"],
      /unknown finish reason "bored"/,
    ],
    ["a worker's unknown role", ["worker", "--role", "sleep"], /unknown role "sleep"/],
    ["retry without saying what", ["retry", "x"], /--failed, or --outcome/],
    ["interactive questions without a terminal", ["--interactive"], /needs a terminal/],
    ["nothing at all, without a terminal", [], /Usage: hallumaze/],
  ])("%s", async (_, words, message) => {
    const held = await runHeld(words);
    expect([held.code, held.openedHouse]).toEqual([2, false]);
    expect(held.err).toMatch(message);
  });

  it("an environment that is wrong is told whole, by variable name, without its values", async () => {
    const variables = {
      DATABASE_URL: "mysql://user:secret@host/db",
      REDIS_URL: "http://host",
      HALLUMAZE_LOG_LEVEL: "loud",
    };
    const held = await runHeld(["status"], { variables });
    expect(held.code).toBe(2);
    for (const name of Object.keys(variables)) expect(held.err).toContain(name);
    expect(held.err).not.toContain("secret");
  });
});
