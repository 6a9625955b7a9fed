import { fileURLToPath } from "node:url";

import packageJson from "../package.json" with { type: "json" };

/** The program's version, as released in CHANGELOG.md. */
export const programVersion: string = packageJson.version;

/** The folder of the running program, for its git commit. */
export const programFolder: string = fileURLToPath(new URL("..", import.meta.url));
