export { type HousePage, openHousePage } from "./house-page.ts";
export { addSiteCommand } from "./site.ts";
