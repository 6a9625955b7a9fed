/** What a failed TLS handshake says, and what to do; null for any other failure. `caSetting` is where a CA is named. */
export function explainTlsFailure(message: string, caSetting: string): string | null {
  if (/altname|does not match certificate|ERR_TLS_CERT_ALTNAME_INVALID/i.test(message)) {
    return "its certificate is for another host name. Use a name or address that the certificate holds.";
  }
  if (/CERT_HAS_EXPIRED|certificate has expired/i.test(message)) return "its certificate has expired. Renew it.";
  if (/self.signed certificate|SELF_SIGNED|unable to (?:verify|get).*(?:certificate|issuer)|UNABLE_TO/i.test(message)) {
    return `its certificate is signed by nobody known here. Name the authority's PEM file in ${caSetting}, or in NODE_EXTRA_CA_CERTS.`;
  }
  if (/wrong version number|packet length too long|EPROTO/i.test(message)) {
    return "it does not speak TLS on this port. Use the plain scheme, or the server's TLS port.";
  }
  if (/does not support SSL/i.test(message)) return "it does not offer TLS. Turn TLS on there, or leave sslmode out.";
  if (/certificate required|handshake failure|bad certificate/i.test(message)) {
    return "it asks for a certificate of the client's, which is not supported for it. Turn that off for this user.";
  }
  return null;
}
