import { type AlertKind, type Condition, type ConditionSettings, findConditions } from "./conditions.ts";
import type { Figures } from "./figures.ts";

/** One occurrence to tell people of. */
export interface Alert {
  readonly kind: AlertKind;
  readonly subject: string;
  /** From 1; with kind and subject the occurrence's identity. */
  readonly occurrence: number;
  readonly raisedAtMs: number;
  readonly facts: Condition["facts"];
}

/** The part of the ledger that decides who tells. */
export interface AlertPort {
  /**
   * Lowers what does not stand and raises what newly does; safe from many workers at once. What was changed after
   * `readAtMs`, by the server's clock, stays: another worker has seen more.
   */
  readonly settleAlerts: (conditions: readonly Condition[], readAtMs: number) => Promise<void>;
  /** Gives what nobody has told, to this caller alone for `claimMs`; at most five times each. */
  readonly takeAlerts: (claimMs: number) => Promise<readonly Alert[]>;
  readonly markTold: (alert: Pick<Alert, "kind" | "subject" | "occurrence">) => Promise<void>;
}

/** A way to people. `send` resolves once they have it, and rejects after its own few tries. */
export interface AlertChannel {
  readonly name: string;
  readonly send: (alert: Alert) => Promise<void>;
}

/** What telling needs from outside. */
export interface TellPorts {
  readonly store: AlertPort;
  readonly channels: readonly AlertChannel[];
  readonly onTold: (alert: Alert, channel: string, error: unknown) => void;
}

/** Longer than all tries of a channel together. */
const claimMs = 120_000;

/**
 * Tells people what has newly come about. Over any number of workers each occurrence is told once: a row decides who tells.
 * A worker that dies between telling and marking is followed by another, so then, and only then, it is told twice. Where a
 * channel fails, all channels are tried again when the claim has ended.
 */
export async function tellAlerts(ports: TellPorts, figures: Figures, settings: ConditionSettings): Promise<void> {
  await ports.store.settleAlerts(findConditions(figures, settings), figures.ledger.atMs);
  for (const alert of await ports.store.takeAlerts(claimMs)) {
    let isTold = true;
    for (const channel of ports.channels) {
      try {
        await channel.send(alert);
        ports.onTold(alert, channel.name, null);
      } catch (error) {
        isTold = false;
        ports.onTold(alert, channel.name, error);
      }
    }
    if (isTold) await ports.store.markTold(alert);
  }
}
