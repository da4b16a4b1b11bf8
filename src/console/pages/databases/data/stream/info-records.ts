/** Converts replies of XINFO, flat lists of names and values, to records. */
import type { Reply } from '../../../../api/kv.js';

export type InfoRecord = Readonly<Record<string, Reply>>;

export function infoRecords(reply: Reply): readonly InfoRecord[] {
  if (!Array.isArray(reply)) return [];
  return (reply as readonly (readonly Reply[])[]).map((flat) => {
    const entries = Array.from({ length: flat.length / 2 }, (_, at) => [
      String(flat[2 * at]),
      flat[2 * at + 1] ?? null,
    ]);
    return Object.fromEntries(entries) as InfoRecord;
  });
}
