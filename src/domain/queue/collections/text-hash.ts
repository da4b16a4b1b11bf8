/** 32 bits of all characters of a text, well mixed: for places in memory, which nobody else hears of. */
export function hashOfText(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
