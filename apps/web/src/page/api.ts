import type { Problem } from "@hallumaze/contract";
import { QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";

/** An answer of the service that is none: its status, and what it says of it. */
export class ServiceError extends Error {
  readonly status: number;
  readonly problem: Partial<Problem> | null;

  constructor(status: number, problem: Partial<Problem> | null) {
    super(problem?.detail ?? problem?.title ?? `HTTP ${status}`);
    this.name = "ServiceError";
    this.status = status;
    this.problem = problem;
  }
}

/** The service's code of an error, such as `not-drawn`; null where it is none of the service's. */
export function codeOf(error: unknown): string | null {
  return error instanceof ServiceError ? (error.problem?.code ?? null) : null;
}

/** A page without a service: where its replies lie. */
interface StaticPage {
  readonly sweep: string;
  readonly madeAt: string;
  readonly replies: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, string>>;
}

const tokenKey = "hallumaze.token";
let snapshot: StaticPage | null = null;

/** The token that the reader pasted, for as long as the tab lives; null before. Never a cookie: no other site can use it. */
export function readToken(): string | null {
  return sessionStorage.getItem(tokenKey);
}

/** Keeps a token for this tab, or forgets it. */
export function keepToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, token);
}

/** Reads the snapshot that the page names, if any: then the page asks no service. */
export async function openSnapshot(): Promise<StaticPage | null> {
  const place = document.querySelector('meta[name="hallumaze-snapshot"]')?.getAttribute("content");
  if (place === null || place === undefined) return null;
  const response = await fetch(place);
  if (!response.ok) throw new ServiceError(response.status, null);
  snapshot = (await response.json()) as StaticPage;
  return snapshot;
}

/** The snapshot that the page shows; null where a service is asked. */
export function shownSnapshot(): StaticPage | null {
  return snapshot;
}

/** Headers of a request: the token where there is one. */
export function requestHeaders(): Record<string, string> {
  const token = readToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

/** Asks the service for JSON. Rejects with a {@link ServiceError}. */
export async function readJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  if (snapshot !== null) {
    const found = snapshot.replies[path];
    if (found === undefined) throw new ServiceError(404, { title: "not in this snapshot" });
    return found as T;
  }
  const response = await fetch(`.${path}`, { headers: requestHeaders(), ...(signal === undefined ? {} : { signal }) });
  // The service of the same origin and version: its answers are held to the contract there.
  return (await answerOf(response)).json() as Promise<T>;
}

/** Tells the service to do something. Rejects with a {@link ServiceError}. */
export async function send<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`.${path}`, {
    method: "POST",
    headers: { ...requestHeaders(), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await answerOf(response)).json() as Promise<T>;
}

/** Saves a file of the service under a name. */
export async function download(path: string, name: string): Promise<void> {
  const place = snapshot === null ? `.${path}` : snapshot.files[path];
  if (place === undefined) throw new ServiceError(404, { title: "not in this snapshot" });
  const response = await answerOf(await fetch(place, { headers: requestHeaders() }));
  saveBlob(await response.blob(), name);
}

/** Saves bytes under a name, as a click on a link would. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The page's kept answers. A refusal is not asked again; a service that is away is, by the live connection. */
export const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What takes the service long is worked out while it is asked again.
      retry: (count, error) => (error instanceof ServiceError ? error.status === 503 && count < 60 : count < 2),
      retryDelay: (_count, error) => (error instanceof ServiceError ? 3000 : 1000),
      staleTime: 5 * 60_000,
      refetchOnWindowFocus: false,
    },
  },
});

/**
 * An answer of the service by its path; kept until the service says that it changed. A null path asks nothing. While
 * `isUnderWay` holds of it, it is read again each three seconds.
 */
export function useApi<T>(path: string | null, isUnderWay?: (data: T) => boolean): UseQueryResult<T> {
  return useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => readJson<T>(path ?? "", signal),
    enabled: path !== null,
    refetchInterval: ({ state: { data } }) => (data !== undefined && isUnderWay?.(data) ? 3000 : false),
    placeholderData: (before, query) => (sameAddress(query?.queryKey[0], path) ? before : undefined),
  });
}

/** Another filter of a sweep's table keeps the old rows while the new ones come; a rater never sees another's item. */
function sameAddress(one: unknown, other: string | null): boolean {
  if (typeof one !== "string" || other === null || !other.startsWith("/api/sweeps/")) return false;
  return one.split("?")[0] === other.split("?")[0];
}

async function answerOf(response: Response): Promise<Response> {
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Partial<Problem> | null;
  throw new ServiceError(response.status, problem);
}
