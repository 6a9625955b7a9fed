import { openLimiter } from "../src/index.ts";
import { type Figure, figure } from "./limit-figures.ts";
import { newLane } from "./steady-lane.ts";

/** Whole requests (reserve and settle) and refusals a second on one lane, 50 at a time from one process. */
export async function measureOperations(name: string, url: string): Promise<readonly Figure[]> {
  const limiter = await openLimiter(url.startsWith("redis") ? { redisUrl: url } : { databaseUrl: url });
  const [free, full] = [newLane(), newLane()];
  await limiter.configure(free, { rpm: 1e9, inputTpm: 1e12, outputTpm: 1e12, concurrency: 1_000 });
  await limiter.configure(full, { rpm: 1 });
  const request = (id: string) => ({ id, inputTokens: 600, outputTokens: 400, tenant: "bench", weight: 1 });
  await limiter.reserve(full, request("first"));
  const total = url.startsWith("redis") ? 10_000 : 1_500;
  const perSecond = async (act: (id: string) => Promise<unknown>): Promise<number> => {
    let next = 0;
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        while (next < total) {
          next += 1;
          await act(`op-${next}`);
        }
      }),
    );
    return (total / (performance.now() - startMs)) * 1_000;
  };
  const whole = await perSecond(async (id) => {
    await limiter.reserve(free, request(id));
    await limiter.settle(free, id, { inputTokens: 600, outputTokens: 300 });
  });
  const refusals = await perSecond((id) => limiter.reserve(full, request(`${Number(id.slice(3)) % 200}`)));
  await limiter.close();
  return [
    figure(`${name}/reserve-and-settle`, whole, "1/s"),
    figure(`${name}/refusals-of-200-waiters`, refusals, "1/s"),
  ];
}
