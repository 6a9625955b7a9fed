import type { Metrics } from "@hallumaze/telemetry";
import { openChannels } from "@hallumaze/telemetry";
import { type AlertPort, type FiguresReader, type Reading, tellAlerts } from "@hallumaze/watching";

import type { Environment } from "./environment.ts";
import type { Logger } from "./logger.ts";
import { pause } from "./loops.ts";

/** Tells people of what has come about, beside the work. */
export interface Notifier {
  /** Looks a last time, tells what is new, and ends; never rejects, and takes 20 s at most. */
  readonly close: () => Promise<void>;
}

const lookEveryMs = 5000;
const closeMs = 20_000;
/** How long ago a sweep's last trial must have ended: its judges are asked within a second. */
const settleMs = 3000;

/** Starts a notifier where the environment names somebody to tell; null where it does not. */
export function startNotifier(
  given: {
    readonly store: AlertPort;
    readonly figures: FiguresReader;
    readonly metrics: Metrics;
    readonly logger: Logger;
  },
  environment: Environment,
  variables: Readonly<Record<string, string | undefined>>,
): Notifier | null {
  const cut = new AbortController();
  const channels = openChannels(environment, variables, cut.signal);
  if (channels.length === 0) return null;
  const { store, figures, metrics, logger } = given;
  const stop = new AbortController();
  const ports: Parameters<typeof tellAlerts>[0] = {
    store,
    channels,
    onTold: ({ kind, subject, occurrence }, channel, error) => {
      metrics.notified(kind, channel, error === null);
      const line = { kind, subject, occurrence, channel };
      if (error === null) logger.info(line, "notification sent");
      else logger.error({ ...line, err: error }, "notification failed");
    },
  };
  const look = async (reading: Promise<Reading>, settleAfterMs: number): Promise<void> => {
    try {
      const found = await reading;
      if (found.figures === null || found.error !== null) return;
      const settings = { failureShare: environment.HALLUMAZE_NOTIFY_FAILURE_SHARE, settleMs: settleAfterMs };
      await tellAlerts(ports, found.figures, settings);
    } catch (error) {
      // The work goes on whether or not somebody hears of it.
      logger.warn({ err: error }, "notifications wait");
    }
  };
  const loop = (async () => {
    while (!stop.signal.aborted) {
      await look(figures.read(), settleMs);
      await pause(lookEveryMs, stop.signal);
    }
  })();
  return {
    close: async () => {
      stop.abort();
      const last = loop.then(() => look(figures.readNow(), 0));
      const end = new AbortController();
      await Promise.race([last.finally(() => end.abort()), pause(closeMs, end.signal)]);
      // Nothing that hangs keeps the process from ending; what was not told is told by the next one.
      cut.abort();
    },
  };
}
