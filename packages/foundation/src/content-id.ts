import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { canonicalJson, type Json } from "./canonical-json.ts";

/** SHA-256 of a text's UTF-8 bytes, as 64 lower-case hexadecimal digits. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** The content id of a value: the first 32 hexadecimal digits (128 bits) of the SHA-256 of its canonical JSON. */
export function contentId(value: Json): string {
  return sha256Hex(canonicalJson(value)).slice(0, 32);
}
