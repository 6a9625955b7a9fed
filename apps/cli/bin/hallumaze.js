#!/usr/bin/env node
// Runs the TypeScript source through tsx, so that a clone works right after `npm ci` without a build step.
import { register } from "tsx/esm/api";

register();
await import("../src/main.ts");
