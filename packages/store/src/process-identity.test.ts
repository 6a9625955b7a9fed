import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, it } from "vitest";

import { describeThisProcess, isKnownDead } from "./process-identity.ts";

it("names this process by host, pid and start time, always the same", () => {
  expect(describeThisProcess()).toMatch(new RegExp(`^[^/]+/${process.pid}/[^/]+$`));
  expect(describeThisProcess()).toBe(describeThisProcess());
  expect(isKnownDead(describeThisProcess())).toBe(false);
});

it("knows a process of this host as dead once it is gone", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  const [host] = describeThisProcess().split("/");
  const workerId = `${host}/${child.pid}/unknown`;
  expect(isKnownDead(workerId)).toBe(false);
  child.stdin.end();
  await once(child, "exit");
  expect(isKnownDead(workerId)).toBe(true);
});

it("knows a process as dead whose pid another one has got", () => {
  const [host] = describeThisProcess().split("/");
  expect(isKnownDead(`${host}/${process.pid}/1`)).toBe(true);
});

it("knows nothing of other hosts and of ids of another form", () => {
  const [host, pid, start] = describeThisProcess().split("/");
  for (const workerId of [
    `elsewhere/${pid}/1`,
    "",
    host ?? "",
    `${host}/0/1`,
    `${host}/-1/1`,
    `${host}/${pid}/${start}/x`,
    `${host}/x/1`,
  ]) {
    expect(isKnownDead(workerId)).toBe(false);
  }
});
