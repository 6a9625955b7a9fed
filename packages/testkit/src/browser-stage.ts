import type { Browser, Page } from "playwright-core";

/** A page in a real browser, with all that went wrong in it. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly browser: Browser;
  /** Breaches of the policy, errors of scripts, dialogs, and requests that left the origin: none is right. */
  readonly wrongs: readonly string[];
}

/** How the page is looked at; 1280 × 900, light and English unless told. */
export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly language?: "en" | "ko";
}

const tellBreaches = `addEventListener("securitypolicyviolation", (event) => {
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample);
});`;

/** Opens an address in a new Chromium with an empty profile, which asks nobody else for anything. */
export async function openPage(executablePath: string, address: string, look: Look = {}): Promise<OpenPage> {
  // Loaded here: most tests open no browser.
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 900 },
    colorScheme: look.theme ?? "light",
    locale: look.language === "ko" ? "ko-KR" : "en-US",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrongs: string[] = [];
  const { origin } = new URL(address);
  page.on("pageerror", (error) => wrongs.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // A refused or missing answer is the service's word, and the page says it; all else that is logged is a fault.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) wrongs.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(?:blob|data):/.test(request.url()))
      wrongs.push(`left: ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript({ content: tellBreaches });
  await page.goto(address);
  return { page, browser, wrongs, [Symbol.asyncDispose]: () => browser.close() };
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Time of the thread itself, in microseconds: what other processes took of the machine is not in it. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Runs, and gives how long the tasks of the page's main thread took of its own time, in milliseconds, the longest first. */
export async function traceTasks({ browser, page }: OpenPage, run: () => Promise<void>): Promise<readonly number[]> {
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  let trace: Buffer;
  try {
    await run();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  return traceEvents
    .filter(
      ({ ph, name, pid, tid }) =>
        ph === "X" && name.endsWith("RunTask") && mains.some((main) => main.pid === pid && main.tid === tid),
    )
    .map(({ tdur = 0 }) => Math.round(tdur / 1000))
    .sort((one, other) => other - one);
}
