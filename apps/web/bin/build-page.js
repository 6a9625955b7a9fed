// Builds the page into the folder that is named. A process of its own: the bundler's memory goes with it, and what it does to
// the environment stays here.
import { fileURLToPath } from "node:url";

import { build } from "vite";

const [outDir] = process.argv.slice(2);
if (outDir === undefined) throw new Error("build-page.js needs the folder to write to.");

await build({
  root: fileURLToPath(new URL("../src/page", import.meta.url)),
  configFile: false,
  mode: "production",
  base: "./",
  logLevel: "warn",
  publicDir: false,
  build: {
    outDir,
    emptyOutDir: true,
    target: "es2023",
    // A data address would need a wider policy, and the polyfill a script in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The charts' library alone is larger than the bundler likes; it comes when a chart is opened.
    chunkSizeWarningLimit: 2000,
  },
});
