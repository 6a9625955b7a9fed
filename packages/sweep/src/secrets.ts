/** Prefixes that vendors give their keys. SOURCE: the vendors' public key formats, as secret scanners list them. */
const KEY_SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{6,}/g,
  /\bAIza[A-Za-z0-9_-]{10,}/g,
  /\b(?:gsk|hf|r8|ghp|gho|ghs|github_pat|glpat|tgp_v1)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:xox[abprs]|nvapi|pplx|xai)-[A-Za-z0-9_-]{32,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?/g,
  /\bBearer\s+[^\s"']{6,}/gi,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g,
  /(?<=:\/\/)[^/\s@:]{1,200}:[^/\s@]{1,200}(?=@)/g,
];

/** A long run of letters and digits; `looksRandom` decides whether it is a word or a token. */
const TOKEN_RUN = /[A-Za-z0-9_+=]{24,}/g;

const KEY_NAME =
  /^(?:api[-_ ]?keys?|keys?|[a-z]+[-_]?api[-_]?key|access[-_]?(?:key|token)|auth[-_]?token|authorization|bearer|(?:client[-_]?)?secret(?:[-_]?key)?|passw(?:or)?d|private[-_]?key|tokens?|credentials?)$/i;

/** Whether a spec's key is the name of a secret, such as `api_key`; `keyEnv` is not: it names a variable. */
export function isSecretName(name: string): boolean {
  return KEY_NAME.test(name);
}

/** Whether a text holds something shaped like an API key, token, private key or a URL's password. Linear time. */
export function holdsSecret(text: string): boolean {
  return redact(text) !== text;
}

/** Replaces whatever is shaped like a key by `[redacted]`. Linear time. */
export function redact(text: string): string {
  let shown = text;
  for (const shape of KEY_SHAPES) shown = shown.replace(shape, "[redacted]");
  return shown.replace(TOKEN_RUN, (run) => (looksRandom(run) ? "[redacted]" : run));
}

/**
 * Whether a run of 24 or more letters and digits is a random token rather than a name: it mixes letters and digits,
 * switches between them often, and its characters spread (Shannon entropy of at least 3 bits a character).
 */
function looksRandom(run: string): boolean {
  const text = run.slice(0, 256);
  let switches = 0;
  const counts = new Map<string, number>();
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    counts.set(character, (counts.get(character) ?? 0) + 1);
    if (index > 0 && isDigit(character) !== isDigit(text.charAt(index - 1))) switches++;
  }
  if (switches < 4) return false;
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy >= 3;
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}
