import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Alert, AlertChannel } from "@hallumaze/watching";

import type { TelemetryEnvironment } from "./env.ts";

/** Names under which the outside knows the kinds. */
const events = {
  done: "sweep.done",
  parked: "lane.parked",
  budget: "sweep.budget_reached",
  failing: "sweep.failing",
} as const;

const webhookTimeoutMs = 10_000;
const commandTimeoutMs = 30_000;
const never = new AbortController().signal;
/** Pauses between the tries of a webhook. */
const pausesMs = [1000, 4000] as const;

/** The ways to people that the environment names; empty where it names none. What is under way ends with `end`. */
export function openChannels(
  environment: TelemetryEnvironment,
  variables: Readonly<Record<string, string | undefined>>,
  end: AbortSignal,
): readonly AlertChannel[] {
  const { HALLUMAZE_NOTIFY_URL: url, HALLUMAZE_NOTIFY_SECRET: secret, HALLUMAZE_NOTIFY_COMMAND: command } = environment;
  return [
    ...(url === undefined ? [] : [openWebhook(url, secret ?? null, { end })]),
    ...(command === undefined ? [] : [openCommand(command, variables, { end })]),
  ];
}

/** What is sent of an alert. Names, counts and outcomes only. */
export function messageOf(alert: Alert): { readonly id: string; readonly body: string } {
  const id = `${alert.kind}.${alert.subject}.${alert.occurrence}`;
  const raisedAt = new Date(alert.raisedAtMs).toISOString();
  return { id, body: JSON.stringify({ id, event: events[alert.kind], raisedAt, ...alert.facts }) };
}

/**
 * Posts JSON. With a secret it is signed as Standard Webhooks has it (https://www.standardwebhooks.com, read 2026-11-30):
 * HMAC-SHA256 of `id.timestamp.body`, under the secret's bytes, or those that a `whsec_…` secret encodes.
 */
export function openWebhook(
  url: string,
  secret: string | null,
  { waitsMs = pausesMs, end = never }: { readonly waitsMs?: readonly number[]; readonly end?: AbortSignal } = {},
): AlertChannel {
  const post = async ({ id, body }: ReturnType<typeof messageOf>): Promise<void> => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "hallumaze",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        ...(secret === null ? {} : { "webhook-signature": sign(secret, `${id}.${timestamp}.${body}`) }),
      },
      body,
      // The address is a secret: it is followed nowhere else.
      redirect: "error",
      signal: AbortSignal.any([end, AbortSignal.timeout(webhookTimeoutMs)]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the webhook answered ${response.status}`);
  };
  return {
    name: "webhook",
    send: async (alert) => {
      const message = messageOf(alert);
      let said = "";
      for (const pauseMs of [0, ...waitsMs]) {
        await sleep(pauseMs, undefined, { signal: end });
        try {
          await post(message);
          return;
        } catch (error) {
          // The client's own words hold the address.
          said = error instanceof Error && error.message.startsWith("the webhook") ? error.message : "no answer";
        }
      }
      throw new Error(`${said}, after ${waitsMs.length + 1} tries`);
    },
  };
}

/**
 * Runs a program without a shell, the JSON on its stdin. It sees PATH, HOME and the language, and none of our keys. One
 * that takes too long is stopped with all that it started.
 */
export function openCommand(
  command: string,
  variables: Readonly<Record<string, string | undefined>>,
  { timeoutMs = commandTimeoutMs, end = never }: { readonly timeoutMs?: number; readonly end?: AbortSignal } = {},
): AlertChannel {
  const [program = "", ...words] = command.split(/\s+/).filter(Boolean);
  const env = Object.fromEntries(["PATH", "HOME", "LANG"].map((name) => [name, variables[name] ?? ""]));
  return {
    name: "command",
    send: (alert) =>
      new Promise((resolve, reject) => {
        const enough = AbortSignal.any([end, AbortSignal.timeout(timeoutMs)]);
        if (enough.aborted) {
          reject(new Error("the command was not started any more"));
          return;
        }
        // A group of its own: a script that hangs mostly waits for a program of its own, which has to end with it.
        const child = spawn(program, words, { stdio: ["pipe", "ignore", "ignore"], env, detached: hasGroups });
        const stop = (): void => {
          try {
            if (hasGroups && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
            else child.kill("SIGKILL");
          } catch {
            // It has just ended by itself.
          }
        };
        enough.addEventListener("abort", stop, { once: true });
        child.once("error", () => reject(new Error("the command could not be started")));
        // Not `close`: what it leaves running may hold the stdin that it was given.
        child.once("exit", (code) => {
          enough.removeEventListener("abort", stop);
          child.stdin.destroy();
          if (code === 0) resolve();
          else reject(new Error(`the command ended with ${code ?? "a signal"}`));
        });
        // One that does not read its stdin is no failure.
        child.stdin.on("error", () => undefined);
        child.stdin.end(messageOf(alert).body);
      }),
  };
}

const hasGroups = process.platform !== "win32";

function sign(secret: string, content: string): string {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;
  return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
}
