import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import type { Alert } from "@hallumaze/watching";
import { Webhook } from "standardwebhooks";
import { describe, expect, it, onTestFinished } from "vitest";

import { messageOf, openCommand, openWebhook } from "./notify.ts";

const alert: Alert = {
  kind: "failing",
  subject: "sweep-1",
  occurrence: 2,
  raisedAtMs: 0,
  facts: { sweep: "night", failed: 3, share: 0.3 },
};
const body = {
  id: "failing.sweep-1.2",
  event: "sweep.failing",
  raisedAt: "1970-01-01T00:00:00.000Z",
  sweep: "night",
  failed: 3,
  share: 0.3,
};

/** A server that answers with these codes, the last one for ever. */
async function listen(...codes: number[]) {
  const got: { readonly headers: IncomingHttpHeaders; readonly text: string }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      got.push({ headers: request.headers, text: sent });
      response.writeHead(codes[Math.min(got.length, codes.length) - 1] ?? 200).end();
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret-path`, got };
}

/** A script that hangs in a program of its own, whose process id it writes into a file. */
async function hangingScript(lines = "sleep 600 & echo $! > FILE; wait") {
  const folder = await mkdtemp(join(tmpdir(), "hallumaze-notify-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "pid");
  await writeFile(join(folder, "hook.sh"), lines.replace("FILE", file));
  return { file, command: `sh ${join(folder, "hook.sh")}` };
}

async function pidIn(file: string): Promise<number> {
  const readPid = async (): Promise<number> => Number(await readFile(file, "utf8").catch(() => ""));
  await expect.poll(readPid, { timeout: 20_000 }).toBeGreaterThan(0);
  return readPid();
}

function isRunning(pid: number): boolean {
  try {
    // A process that nobody has waited for yet is still listed.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("a webhook", () => {
  it("gets the JSON, signed so that the library of Standard Webhooks takes it", async () => {
    const { url, got } = await listen(200);
    const secret = `whsec_${Buffer.from("a secret of the tests").toString("base64")}`;
    await openWebhook(url, secret).send(alert);
    expect(new Webhook(secret).verify(got[0]?.text ?? "", got[0]?.headers as Record<string, string>)).toEqual(body);
    expect(got).toHaveLength(1);
  });

  it("is tried again with the same id, and given up with an error that does not hold its address", async () => {
    const { url, got } = await listen(500, 503, 200);
    await openWebhook(url, null, { waitsMs: [1, 1] }).send(alert);
    expect(got.map(({ headers }) => headers["webhook-id"])).toEqual(Array(3).fill("failing.sweep-1.2"));
    const broken = await listen(500);
    await expect(openWebhook(broken.url, null, { waitsMs: [1] }).send(alert)).rejects.toThrow(
      "the webhook answered 500, after 2 tries",
    );
    const nobody = openWebhook("http://127.0.0.1:1/secret-path", null, { waitsMs: [] }).send(alert);
    await expect(nobody).rejects.toThrow(/^no answer, after 1 tries$/);
  });
});

describe("the end of the process", () => {
  it("cuts a webhook that never answers", async () => {
    const server = createServer(() => undefined).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const end = new AbortController();
    server.once("request", () => end.abort());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(openWebhook(url, null, { end: end.signal }).send(alert)).rejects.toThrow("aborted");
  });

  it("stops a command that hangs, and what it waits for", async () => {
    const { file, command } = await hangingScript();
    const end = new AbortController();
    const sent = openCommand(command, process.env, { end: end.signal }).send(alert);
    const pid = await pidIn(file);
    end.abort();
    await expect(sent).rejects.toThrow("ended with a signal");
    await expect.poll(() => isRunning(pid)).toBe(false);
    const late = openCommand(command, process.env, { end: end.signal }).send(alert);
    await expect(late).rejects.toThrow("not started any more");
  });
});

describe("a command", () => {
  it("that takes too long is stopped with what it waits for", async () => {
    const { file, command } = await hangingScript();
    const sent = openCommand(command, process.env, { timeoutMs: 3000 }).send(alert);
    await expect(sent).rejects.toThrow("ended with a signal");
    const pid = await pidIn(file);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("that ends well is told, though it leaves a program running that holds its stdin", async () => {
    const { file, command } = await hangingScript("exec 3<&0; sleep 600 <&3 & echo $! > FILE");
    await openCommand(command, process.env).send(alert);
    const pid = await pidIn(file);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  it("runs without a shell, gets the JSON on its stdin, and sees none of our keys", async () => {
    const folder = await mkdtemp(join(tmpdir(), "hallumaze-notify-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "$(id)");
    const variables = { PATH: process.env["PATH"], OPENAI_API_KEY: "sk-secret" };
    await openCommand(`tee ${file}`, variables).send(alert);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual(body);
    await openCommand("env", variables).send(alert);
    await expect(openCommand("printenv OPENAI_API_KEY", variables).send(alert)).rejects.toThrow("ended with 1");
    await expect(openCommand("no-such-program", variables).send(alert)).rejects.toThrow("could not be started");
    expect(JSON.parse(messageOf(alert).body)).toEqual(body);
  });
});
