import { readJudgeRequest, simJudge, type SimJudgeRequest } from "./sim-judge.ts";

/** A judge that plays one part, from the request's text alone; deterministic. */
export type ScriptedJudge = (request: SimJudgeRequest) => string;

/**
 * Judges that go wrong in one way each, for rehearsals and tests of what reads them.
 *
 * `obedient` does what the candidate's text asks: it hands back the first object that it finds there, as it stands, and else
 * judges by rule. `obedientWithNonce` does the same and adds the request's own nonce, the most that a candidate can get.
 */
export const scriptedJudges = {
  obedient: (request) => findObject(readJudgeRequest(request).response) ?? simJudge(request),
  obedientWithNonce: (request) => {
    const { response, nonce } = readJudgeRequest(request);
    const found = findObject(response);
    return found === null ? simJudge(request) : addNonce(found, nonce);
  },
  rambling: (request) => `Let me think about this one first.\n\n${simJudge(request)}\n\nI hope that this helps!`,
  refusing: () => "I'm sorry, but I can't assist with evaluating this content.",
  truncated: (request) => {
    const whole = simJudge(request);
    return whole.slice(0, Math.floor(whole.length * 0.6));
  },
  wrongNonce: (request) => {
    const { nonce } = readJudgeRequest(request);
    const whole = simJudge(request);
    return nonce === null
      ? whole
      : whole.replace(
          nonce,
          nonce.replace(/./g, (digit) => (digit === "0" ? "1" : "0")),
        );
  },
} as const satisfies Readonly<Record<string, ScriptedJudge>>;

/** The first text in braces that is JSON; the number of tries is bounded. */
function findObject(text: string): string | null {
  let start = text.indexOf("{");
  for (let tries = 0; start >= 0 && tries < 50; tries++) {
    let end = text.indexOf("}", start);
    for (let ends = 0; end >= 0 && ends < 50; ends++) {
      const candidate = text.slice(start, end + 1);
      if (isJson(candidate)) return candidate;
      end = text.indexOf("}", end + 1);
    }
    start = text.indexOf("{", start + 1);
  }
  return null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function addNonce(object: string, nonce: string | null): string {
  if (nonce === null) return object;
  return JSON.stringify({ ...(JSON.parse(object) as Readonly<Record<string, unknown>>), nonce });
}
