import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
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
    await openWebhook(url, null, [1, 1]).send(alert);
    expect(got.map(({ headers }) => headers["webhook-id"])).toEqual(Array(3).fill("failing.sweep-1.2"));
    const broken = await listen(500);
    await expect(openWebhook(broken.url, null, [1]).send(alert)).rejects.toThrow(
      "the webhook answered 500, after 2 tries",
    );
    const nobody = openWebhook("http://127.0.0.1:1/secret-path", null, []).send(alert);
    await expect(nobody).rejects.toThrow(/^no answer, after 1 tries$/);
  });
});

describe("a command", () => {
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
