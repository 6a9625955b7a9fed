import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runTool } from "./test-tools.ts";

/** An authority of a test's own and a server's certificate by it, as PEM files that every account can read. */
export interface TestCertificates {
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly drop: () => void;
}

/** Makes a certificate for `host`, an IP address or a name, with openssl. */
export function createCertificates(host = "127.0.0.1"): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), "hallumaze-tls-"));
  chmodSync(folder, 0o755);
  const file = (name: string): string => join(folder, name);
  const kind = /^[\d.:]+$/.test(host) ? "IP" : "DNS";
  const subject = ["-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  runTool("openssl", [
    "req",
    "-x509",
    ...subject,
    "-subj",
    "/CN=test authority",
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
  ]);
  runTool("openssl", [
    "req",
    ...subject,
    "-subj",
    `/CN=${host}`,
    "-keyout",
    file("server.key"),
    "-out",
    file("server.csr"),
  ]);
  writeFileSync(file("names"), `subjectAltName=${kind}:${host}\n`);
  const signed = [
    "-CA",
    file("ca.pem"),
    "-CAkey",
    file("ca.key"),
    "-CAcreateserial",
    "-days",
    "2",
    "-extfile",
    file("names"),
  ];
  runTool("openssl", ["x509", "-req", "-in", file("server.csr"), ...signed, "-out", file("server.pem")]);
  for (const name of ["ca.pem", "server.pem", "server.key"]) chmodSync(file(name), 0o644);
  return {
    caFile: file("ca.pem"),
    certificateFile: file("server.pem"),
    keyFile: file("server.key"),
    drop: () => rmSync(folder, { recursive: true, force: true }),
  };
}
