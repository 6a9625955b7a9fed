// Lets Node import TypeScript: esbuild strips each file when it is loaded. Use with `node --import`, or import it first.
// Not tsx, which makes esbuild keep every function's name: that costs a call for each closure, and the reader creates
// many (see the decision records).
import { register } from "node:module";

register("./typescript-hooks.js", import.meta.url);
process.setSourceMapsEnabled(true);
