import { type Problem, type ProblemCode, problemMediaType } from "@hallumaze/contract";
import { HalluMazeError } from "@hallumaze/foundation";
import { HTTPException } from "hono/http-exception";

const kinds: Readonly<Record<ProblemCode, { readonly status: number; readonly title: string }>> = {
  "bad-request": { status: 400, title: "The request is not valid" },
  unauthorized: { status: 401, title: "A token is needed" },
  "not-found": { status: 404, title: "There is no such thing" },
  "method-not-allowed": { status: 405, title: "This may only be read" },
  "judging-under-way": { status: 409, title: "This result is being judged" },
  "gate-closed": { status: 409, title: "The judge's gate is closed" },
  "length-required": { status: 411, title: "The request has to say its length" },
  "body-too-large": { status: 413, title: "The request is too large" },
  "nothing-to-judge": { status: 422, title: "There is nothing to judge" },
  refused: { status: 422, title: "This cannot be done as asked" },
  "no-such-metric": { status: 422, title: "The profile has no such metric" },
  "not-drawn": { status: 409, title: "The labelling set is not drawn yet" },
  "labelling-under-way": { status: 409, title: "Two raters have not finished yet" },
  "no-experiment": { status: 422, title: "The sweep's data does not hold this experiment" },
  "no-fitness": { status: 422, title: "There is no fitness" },
  "rate-limited": { status: 429, title: "Too many requests" },
  internal: { status: 500, title: "Something went wrong here" },
  "no-judge": { status: 501, title: "No judge is configured" },
  unavailable: { status: 503, title: "The service cannot work now" },
};

/** What is told beside code and title. */
export interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly poll?: string;
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
}

/** Ends a request with a problem; the app turns it into the response. */
export class ProblemError extends HalluMazeError {
  declare readonly code: ProblemCode;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(code, details.detail ?? kinds[code].title);
    this.details = details;
  }
}

/** The response of a problem, as application/problem+json. SOURCE: RFC 9457. */
export function problemResponse(code: ProblemCode, details: ProblemDetails = {}): Response {
  const { status, title } = kinds[code];
  const { retryAfterSeconds, errors, ...others } = details;
  const body: Problem = {
    type: `urn:hallumaze:problem:${code}`,
    title,
    status,
    code,
    ...others,
    ...(errors === undefined ? {} : { errors: [...errors] }),
  };
  const headers = new Headers({ "content-type": problemMediaType });
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  if (details.poll !== undefined) headers.set("location", details.poll);
  if (code === "unauthorized") headers.set("www-authenticate", 'Bearer realm="hallumaze"');
  if (code === "method-not-allowed") headers.set("allow", "GET");
  return new Response(JSON.stringify(body), { status, headers });
}

/**
 * Translates whatever a handler threw. An error of this service's own parts keeps its words to the log: they name hosts and
 * statements. `report` is told of what nobody expected, and of what is away.
 */
export function errorResponse(error: unknown, report: (error: unknown) => void): Response {
  if (error instanceof ProblemError) return problemResponse(error.code, error.details);
  if (error instanceof HTTPException && error.status < 500) {
    if (error.status === 413) return problemResponse("body-too-large");
    return problemResponse("bad-request", { detail: "The body is not JSON." });
  }
  report(error);
  if (
    error instanceof HalluMazeError &&
    (error.retry || /^(?:database-unreachable|queue-refused|queue-unreachable)$/.test(error.code))
  ) {
    const detail = "The database or the queue is away. What was taken on is kept; try again.";
    return problemResponse("unavailable", { detail, retryAfterSeconds: 5 });
  }
  return problemResponse("internal");
}
