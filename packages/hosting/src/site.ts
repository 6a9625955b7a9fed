import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { createApi } from "@hallumaze/api";
import { type AddCommand, exitCodes, findSweep, integerBetween, UsageError } from "@hallumaze/console";
import { openHouse } from "@hallumaze/runtime";
import { collectSnapshot, exportPage, type ServiceReader } from "@hallumaze/web";

import { openHousePage } from "./house-page.ts";

interface SiteOptions {
  readonly output?: string;
  readonly trials: number;
  readonly json?: boolean;
}

/** `site SWEEP`: a sweep's page as a folder that any web server shows, without a service behind it. */
export function addSiteCommand(version: string): AddCommand {
  return (program, console, register) => {
    const command = program
      .command("site")
      .description(
        "write a sweep's page as a folder for a project's site: it shows what serve shows, and changes nothing",
      )
      .argument("<sweep>", "name of the sweep")
      .option("--output <folder>", "folder to make; <sweep>-site when left out")
      .option(
        "--trials <n>",
        "trials to look at, the same number of each model and condition",
        integerBetween(0, 5000),
        60,
      )
      .option("--json", "print what was written as JSON")
      .addHelpText("after", "\nExample:\n  $ hallumaze site baselines --output docs/baselines\n");
    register(command, async (name: string, options: SiteOptions) => {
      await using house = await openHouse(console.environment(), console.logger(), console.variables);
      const sweep = await findSweep(house.store, name);
      const safe = sweep.name.replace(/[^\w.-]+/g, "-");
      const folder = resolve(console.workingFolder, options.output ?? `${safe}-site`);
      if (await isThere(folder))
        throw new UsageError(`${folder} is there already: name another --output, or take it away.`);
      await using page = openHousePage(house, console);
      const token = randomUUID();
      const api = createApi(page.ports, {
        token,
        judge: null,
        version,
        requestsPerMinute: Number.MAX_SAFE_INTEGER,
        storeTimeoutMs: askMs,
        workMs: askMs,
      });
      const ask = (path: string): Response | Promise<Response> => {
        console.interrupt.throwIfAborted();
        return api.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } }));
      };
      const madeAt = new Date(console.now()).toISOString();
      const snapshot = await collectSnapshot(sweep.name, readerOf(ask), { madeAt, trials: options.trials }).finally(
        api.stop,
      );
      await mkdir(dirname(folder), { recursive: true });
      // A folder of its own: half a site is never seen, and nothing of others is touched.
      const draft = await mkdtemp(`${folder}.partial-`);
      try {
        await exportPage(snapshot, draft);
        await chmod(draft, 0o755);
        await rename(draft, folder);
      } catch (error) {
        await rm(draft, { recursive: true, force: true });
        throw error;
      }
      const written = { sweep: sweep.name, folder, replies: Object.keys(snapshot.replies).length };
      if (options.json) console.out(JSON.stringify(written));
      else console.out(`${sweep.name}: its page as of ${madeAt} is in ${folder}; any web server shows it`);
      return exitCodes.ok;
    });
  };
}

/** Nobody waits at a page for these answers. */
const askMs = 600_000;

/** Answers as they come; what the sweep does not have is left out, and anything else ends it. */
function readerOf(ask: (path: string) => Response | Promise<Response>): ServiceReader {
  const answerOf = async (path: string): Promise<Response | null> => {
    const response = await ask(path);
    if (response.ok) return response;
    if ([404, 409, 422].includes(response.status)) return null;
    throw new Error(`${path} was answered with ${response.status}: ${(await response.text()).slice(0, 300)}`);
  };
  return {
    json: async (path) => (await answerOf(path))?.json() ?? null,
    bytes: async (path) => {
      const response = await answerOf(path);
      return response === null ? null : new Uint8Array(await response.arrayBuffer());
    },
  };
}

function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}
