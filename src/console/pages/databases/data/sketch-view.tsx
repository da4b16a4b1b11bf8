/** A filter, a sketch or a vector set: the facts that its INFO command has, and the most frequent items of a Top-K sketch. */
import { useAsk } from '../../../api/ask.js';
import { command, shownOf, wordOf } from '../../../api/kv.js';
import { Empty, Shown } from '../../../parts/states.js';
import type { TypeViewProps } from './key-record.js';
import type { KeyType } from './listed-keys.js';
import { infoRecords } from './stream/info-records.js';

const REFRESH_MS = 5_000;

const INFO = {
  'MBbloom--': 'BF.INFO',
  MBbloomCF: 'CF.INFO',
  'CMSk-TYPE': 'CMS.INFO',
  'TopK-TYPE': 'TOPK.INFO',
  'TDIS-TYPE': 'TDIGEST.INFO',
  vectorset: 'VINFO',
} as const;

type SketchType = keyof typeof INFO;

export function isSketch(type: KeyType): type is SketchType {
  return Object.hasOwn(INFO, type);
}

export function SketchView({ id, name, type }: TypeViewProps & { readonly type: SketchType }) {
  const key = wordOf(name);
  const asked = useAsk(
    `sketch ${id} ${name}`,
    async () => {
      const facts = infoRecords([await command(id, INFO[type], key)])[0];
      const items = type === 'TopK-TYPE' ? await command(id, 'TOPK.LIST', key, 'WITHCOUNT') : [];
      return facts === undefined ? undefined : { facts, items: Array.isArray(items) ? items : [] };
    },
    REFRESH_MS,
  );
  return (
    <Shown asked={asked}>
      {(sketch) =>
        sketch === undefined ? (
          <Empty title="The key is gone">It was deleted, or has expired.</Empty>
        ) : (
          <dl class="facts">
            {Object.entries(sketch.facts).map(([fact, value]) => (
              <>
                <dt>{fact}</dt>
                <dd>{value === null ? 'none' : String(value)}</dd>
              </>
            ))}
            {sketch.items.map((item, at) =>
              at % 2 === 0 ? (
                <>
                  <dt class="wrap-anywhere">{shownOf(item)}</dt>
                  <dd>{String(sketch.items[at + 1])}</dd>
                </>
              ) : null,
            )}
          </dl>
        )
      }
    </Shown>
  );
}
