import { setTimeout as sleep } from "node:timers/promises";

import type { ApiPorts } from "@hallumaze/api";
import type { Console } from "@hallumaze/console";
import { openLedgerViews } from "@hallumaze/ledger-views";
import { findDefaultLimits, type House, openLaneCatalog } from "@hallumaze/runtime";

import { studiesApart } from "./open-study.ts";

/** What the API needs of a house for the page, and the end of the connections that were opened for it. */
export interface HousePage extends AsyncDisposable {
  readonly ports: Pick<ApiPorts, "store" | "queue" | "now" | "sleep" | "onError"> & Required<Pick<ApiPorts, "page">>;
}

/** Opens what the page reads and changes in a house; its reads go over connections of their own. */
export function openHousePage(house: House, console: Console): HousePage {
  const { store, queue, limiter, databaseUrl } = house;
  const isPooled = console.environment().DATABASE_DIRECT_URL !== undefined;
  const views = openLedgerViews({ databaseUrl, isPooled });
  return {
    ports: {
      store,
      queue,
      page: {
        views,
        labels: views,
        store,
        queue,
        limiter,
        defaultLimits: findDefaultLimits,
        openStudy: studiesApart(store),
        refreshLanes: () => openLaneCatalog(store, limiter).refresh(),
        onChange: (fields, message) => console.logger().info(fields, message),
      },
      now: console.now,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      onError: (error) => console.logger().error({ err: error }, "request failed"),
    },
    [Symbol.asyncDispose]: views.close,
  };
}
