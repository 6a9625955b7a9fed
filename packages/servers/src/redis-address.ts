/** Where a Redis is: one server, the sentinels that know it, or some nodes of a cluster. */
export interface RedisAddress {
  readonly kind: "single" | "sentinel" | "cluster";
  /** At least one; of a cluster or of sentinels, those that are asked first. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | null;
  readonly password: string | null;
  /** 0 unless the URL names one; a cluster has no other. */
  readonly database: number;
  /** Name by which the sentinels know the master; null where there are none. */
  readonly masterName: string | null;
  /** Login at the sentinels themselves; null where they ask for none. */
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  /** IP version to use; null for either. */
  readonly family: 4 | 6 | null;
}

/** An address, or what is wrong with the URL; the reason quotes nothing of it. */
export type RedisAddressFound =
  | { readonly kind: "found"; readonly address: RedisAddress }
  | { readonly kind: "unusable"; readonly reason: string };

const form =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^:@/?#\s]*)(?::([^@/?#\s]*))?@)?([^@/?#\s]+)(?:\/([^?#\s]*))?(?:\?([^#\s]*))?$/i;
const hostForm = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;
const knownOptions = new Set(["family", "sentinelUser", "sentinelPassword"]);

/**
 * Reads `redis://user:password@host:6379/0` (`rediss://` for TLS), `redis+sentinel://host:26379,host:26379/master/0` and
 * `redis+cluster://host:6379,host:6379`. User and password are percent-encoded.
 */
export function parseRedisUrl(url: string): RedisAddressFound {
  const parts = form.exec(url);
  if (parts === null) return unusable("must be a redis:// or rediss:// URL with : / ? # @ % in its password escaped");
  const [, scheme = "", kindText = "single", user = "", secret = "", hostList = "", path = "", query = ""] = parts;
  const kind = kindText.toLowerCase() as RedisAddress["kind"];
  const hosts = hostList.split(",").map((text) => readHost(text, kind === "sentinel" ? 26_379 : 6379));
  const known = hosts.filter((host) => host !== null);
  if (known.length < hosts.length) return unusable("needs a host, or host:port, after the @");
  if (kind === "single" && hosts.length > 1)
    return unusable("names several hosts: begin it with redis+cluster:// or redis+sentinel://");
  const options = new URLSearchParams(query);
  const unknown = [...options.keys()].find((key) => !knownOptions.has(key));
  if (unknown !== undefined) return unusable("has an option that is none of family, sentinelUser, sentinelPassword");
  const place = readPath(kind, path);
  if (typeof place === "string") return unusable(place);
  const login = [user, secret].map(decodeOrNull);
  if (login.includes(null)) return unusable("holds a % that is no escape: write %25");
  const family = options.get("family");
  return {
    kind: "found",
    address: {
      kind,
      hosts: known,
      tls: scheme.toLowerCase() === "rediss",
      username: login[0] || null,
      password: login[1] || null,
      ...place,
      sentinelUsername: options.get("sentinelUser"),
      sentinelPassword: options.get("sentinelPassword"),
      family: family === "4" ? 4 : family === "6" ? 6 : null,
    },
  };
}

/** The address as it may be shown: scheme, hosts and path; no user, password or option. */
export function showRedisUrl(url: string): string {
  const parts = form.exec(url);
  if (parts === null) return "(an invalid URL)";
  const [, scheme, kind, , , hosts, path] = parts;
  return `${scheme}${kind === undefined ? "" : `+${kind}`}://${hosts}${path ? `/${path}` : ""}`;
}

function readHost(text: string, defaultPort: number): { readonly host: string; readonly port: number } | null {
  const [, host, portText] = hostForm.exec(text) ?? [];
  const port = portText === undefined ? defaultPort : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, ""), port };
}

function readPath(kind: RedisAddress["kind"], path: string): Pick<RedisAddress, "database" | "masterName"> | string {
  const [first = "", second = "", ...rest] = path.split("/");
  if (kind === "sentinel") {
    const masterName = decodeOrNull(first);
    const fits = masterName !== null && masterName !== "" && rest.length === 0 && /^\d{0,5}$/.test(second);
    return fits
      ? { masterName, database: Number(second) }
      : "must name the master after the hosts, as in redis+sentinel://host:26379/mymaster/0";
  }
  const isNumber = /^\d{0,5}$/.test(first) && second === "" && rest.length === 0;
  if (!isNumber) return "must end after the port or with a database number, as in redis://host:6379/0";
  if (kind === "cluster" && Number(first) > 0) return "names a database: a cluster has none but 0";
  return { masterName: null, database: Number(first) };
}

function unusable(reason: string): RedisAddressFound {
  return { kind: "unusable", reason };
}

function decodeOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
