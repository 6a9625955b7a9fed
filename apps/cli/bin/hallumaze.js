#!/usr/bin/env node
// Runs the TypeScript source as it is, so that a clone works right after `npm ci` without a build step.
import "./register-typescript.js";

await import("../src/main.ts");
