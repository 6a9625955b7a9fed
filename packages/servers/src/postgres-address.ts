/**
 * A Postgres URL as the driver should get it. `sslmode` `require`, `prefer` and `verify-ca` check the certificate and its
 * host name as `verify-full` does; so does the driver, with a warning that its next version will not. `no-verify` encrypts
 * only; `sslrootcert` names the authority's PEM file.
 */
export function strictTls(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return databaseUrl;
  const url = new URL(databaseUrl);
  if (!/^(?:prefer|require|verify-ca)$/.test(url.searchParams.get("sslmode") ?? "")) return databaseUrl;
  url.searchParams.set("sslmode", "verify-full");
  return url.href;
}
