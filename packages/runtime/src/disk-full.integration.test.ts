import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { reply, shortTimes } from "../test/worker-replies.ts";
import { openWorkerStage, scriptedProvider } from "../test/worker-stage.ts";

const run = (program: "mount" | "umount", words: readonly string[]) => spawnSync(program, words);
const folder = mkdtempSync(join(tmpdir(), "hallumaze-disk-"));
const mount = () => run("mount", ["-t", "tmpfs", "-o", "size=6m,mode=755", "none", folder]).status === 0;
const canMount = mount();
run("umount", [folder]);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(canMount)(
  canMount ? "a disk that is full" : "a disk that is full, not run: no right to mount one",
  () => {
    it("pauses the work with a reason, loses no trial, and with room again takes every reply without a second call", async () => {
      const stage = await openWorkerStage();
      expect(mount()).toBe(true);
      const [server] = await stage.sql<{ data: string }>("SELECT current_setting('data_directory') AS data");
      const space = `disk_${randomBytes(6).toString("hex")}`;
      const place = join(folder, "space");
      const { uid, gid } = statSync(server?.data ?? "");
      mkdirSync(place, { mode: 0o700 });
      chownSync(place, uid, gid);
      await stage.sql(`CREATE TABLESPACE ${space} LOCATION '${place}'`);
      onTestFinished(async () => {
        await stage.sql("ALTER TABLE exchanges SET TABLESPACE pg_default");
        await stage.sql(`DROP TABLESPACE ${space}`);
        run("umount", [folder]);
      });
      await stage.sql(`ALTER TABLE exchanges SET TABLESPACE ${space}`);

      const cells = 40;
      await stage.submit(cells, { tries: 1 });
      const troubles: unknown[] = [];
      const logger = {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: (details: { readonly err?: unknown }) => void troubles.push(details.err),
      };
      // What does not compress: each reply takes its own room.
      const provider = scriptedProvider(() =>
        reply(`${randomBytes(150_000).toString("base64")}\nFINAL_PATH: (0,0) -> (0,1)`),
      );
      stage.work({ provider, logger, concurrency: 4, times: shortTimes });
      await vi.waitFor(() => expect(troubles[0]).toMatchObject({ code: "database-full", retry: true }), {
        timeout: 30_000,
      });
      const paused = await stage.books();
      expect(paused.states["failed"]).toBeUndefined();
      expect(paused.accepted).toBeLessThan(cells);
      expect(provider.calls()).toBeLessThan(cells);

      expect(run("mount", ["-o", "remount,size=200m", folder]).status).toBe(0);
      await stage.reach("done", cells, 50_000);
      expect(provider.calls()).toBe(cells);
      expect(await stage.books()).toEqual({
        states: { done: cells },
        accepted: cells,
        exchanges: cells,
        lateDuplicates: 0,
      });
    });
  },
);
