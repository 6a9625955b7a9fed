import { type Environment, parseEnvironment } from "@hallumaze/runtime";

/** The process's variables: the one place that reads them. */
export const variables: Readonly<Record<string, string | undefined>> = process.env;

let parsed: Environment | null = null;

/** The checked environment; throws an error that lists every problem at once. */
export function environment(): Environment {
  parsed ??= parseEnvironment(variables);
  return parsed;
}
