import { readFileSync } from "node:fs";

import { parse } from "yaml";
import { describe, expect, it } from "vitest";

import { drainDeadlineMs, parseEnvironment } from "./environment.ts";

interface Service {
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly container_name?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const text = readFileSync(new URL("../../../docker-compose.yml", import.meta.url), "utf8");
const { services } = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };
const ours = ["producer", "solve-worker", "judge-worker", "batch-worker", "api"] as const;

describe("docker-compose.yml", () => {
  it.each(ours)("%s waits for both servers and is told of them", (name) => {
    expect(services[name]?.depends_on).toEqual({
      redis: { condition: "service_healthy" },
      postgres: { condition: "service_healthy" },
    });
    const environment = {
      ...services[name]?.environment,
      DATABASE_URL: "postgresql://hallumaze:x@postgres:5432/hallumaze",
    };
    expect(parseEnvironment(environment)).toMatchObject({ REDIS_URL: "redis://redis:6379" });
  });

  it.each(["solve-worker", "judge-worker", "batch-worker"])(
    "%s can be scaled: it has neither a name nor a port of its own",
    (name) => {
      const [port] = /\d+$/.exec(services[name]?.command?.join(" ") ?? "") ?? [];
      expect(services[name]?.healthcheck?.test.join(" ")).toContain(`:${port}/readyz`);
      expect(services[name]).not.toHaveProperty("ports");
      expect(services[name]).not.toHaveProperty("container_name");
    },
  );

  it.each(["solve-worker", "judge-worker", "batch-worker", "api"])(
    "%s gets longer to stop than it waits for its requests",
    (name) => {
      const graceMs = Number.parseInt(services[name]?.stop_grace_period ?? "", 10) * 1000;
      expect(graceMs).toBeGreaterThan(drainDeadlineMs(parseEnvironment({})));
    },
  );

  it("has a worker for every role, so that no sweep's mode leaves something waiting", () => {
    const roles = Object.values(services).flatMap(({ command = [] }) => {
      const at = command.indexOf("--role");
      return at === -1 ? [] : (command[at + 1]?.split(",") ?? []);
    });
    expect(roles.toSorted()).toEqual(["batch", "judge", "solve"]);
  });

  it("publishes nothing beyond the loopback", () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published).toHaveLength(3);
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:/);
  });
});
