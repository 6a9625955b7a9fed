import { runAgainstServer, utilisation, fullestMinute } from "/tmp/hm/i3/packages/limiter/bench/limit-run.ts";
const [url, bound, procs, pacing = "ours", minutes = "3"] = process.argv.slice(2);
const minuteMs = 10000;
const limits = bound === "rpm" ? { rpm: 300 } : { outputTpm: 400000 };
const c = await runAgainstServer({
  plan: { pacing: pacing as any, url: url!, lane: "t" + Date.now(), ...limits },
  processes: Number(procs),
  loops: bound === "rpm" ? 75 : 250,
  minuteMs,
  minutes: Number(minutes),
  serverLimits: limits,
});
const unit = bound === "rpm" ? "requests" : "tokens",
  L = bound === "rpm" ? 300 : 400000;
console.log(
  bound,
  procs,
  pacing,
  "used",
  utilisation(c, unit as any, L, { fromMs: minuteMs, toMs: Number(minutes) * minuteMs, minuteMs }).toFixed(4),
  "429",
  c.refusals.length,
  "done",
  c.completions.length,
  "max",
  fullestMinute(c, unit as any, L, minuteMs).toFixed(4),
);
process.exit(0);
