#!/usr/bin/env node
// Runs the TypeScript source as it is, so that a clone works right after `npm ci` without a build step.
import { setFlagsFromString } from "node:v8";

const command = process.argv[2];
// By default V8 lets the heap grow to several times what is alive before it collects: 470 MB where 60 are in use, on a
// submission of 200,000 cells. Workers share hosts with databases; half as much again is enough.
// An analysis holds much and throws away more, a resample at a time: it collects more often.
const analyses = new Set(["report", "analyze", "bundle", "replay"]);
// A look that ends within a second collects nothing worth a tenth of it.
const looks = new Set(["status", "lanes", "plan", "schema", "maze", "score", "--help", "--version"]);
if (!looks.has(command)) setFlagsFromString(`--heap-growing-percent=${analyses.has(command) ? 15 : 50}`);
if (analyses.has(command)) setFlagsFromString("--max-semi-space-size=4");
// Commands that only move rows need little speed of their own: a fifth less memory is worth more.
const movesRows = new Set(["export", "backup", "restore", "prune"]);
if (movesRows.has(command)) setFlagsFromString("--optimize-for-size");

const { findProgram } = await import("./build-program.js");
const program = await findProgram();
// Where nothing can be kept: file by file, slower, and the same.
if (program === null) await import("./register-typescript.js");
await import(program ?? "../src/main.ts");
