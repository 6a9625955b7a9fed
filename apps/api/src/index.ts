export type { ApiPorts, ApiStore } from "./api-ports.ts";
export { type Api, type ApiSettings, createApi } from "./create-api.ts";
export { createWatchApi } from "./create-watch-api.ts";
export type { PagePorts } from "./page-ports.ts";
export type { HeldExperiment, OpenStudy, Study } from "./run-study.ts";
export type { PageSite } from "./serve-files.ts";
export { listen, type Listening } from "./listen.ts";
export type { WatchPorts } from "./watch-routes.ts";
