/** The form for a new key: name, type, first content and expiry. */
import { useSignal } from '@preact/signals';
import { CallError } from '../../../api/call.js';
import { binaryOfText, command } from '../../../api/kv.js';
import type { Words } from '../../../api/kv-bytes.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, SubmitButton, TextField } from '../../../parts/field.js';
import { doing } from '../../../parts/toast.js';
import { done } from './collections/collection.js';
import { type KeyType, SHOWN_TYPES, TYPE_LABELS } from './listed-keys.js';

export interface NewKeyDialogProps {
  readonly id: string;
  onClose(): void;
  onMade(name: string): void;
}

/** The fields of the first content: a label for its name, if it has one, and for its value. */
const PARTS: Readonly<Record<KeyType, readonly [name: string | undefined, value: string, example: string]>> = {
  string: [undefined, 'Value', 'hello'],
  hash: ['Field', 'Value', 'Ada'],
  list: [undefined, 'First element', 'a'],
  set: [undefined, 'First member', 'red'],
  zset: ['Score', 'Member', 'ada'],
  stream: ['Field', 'Value', '42'],
  array: ['Index', 'Value', 'first'],
  vector: ['Dimension', 'Metric', 'COSINE, EUCLIDEAN or DOT'],
  vectorset: ['Element', 'Numbers', '0.1 0.5 0.2'],
  'ReJSON-RL': [undefined, 'Document', '{}'],
  'MBbloom--': ['Error rate', 'Capacity', '1000'],
  MBbloomCF: [undefined, 'Capacity', '1000'],
  'CMSk-TYPE': ['Width', 'Depth', '5'],
  'TopK-TYPE': [undefined, 'Number of items', '10'],
  'TDIS-TYPE': [undefined, 'Compression', '100'],
  search: [undefined, 'Definition', 'ON JSON PREFIX 1 item: SCHEMA name TEXT'],
};

export function NewKeyDialog({ id, onClose, onMade }: NewKeyDialogProps) {
  const name = useSignal('');
  const type = useSignal<string>('string');
  const part = useSignal('');
  const value = useSignal('');
  const ttl = useSignal('');
  const shape = type.value as KeyType;
  const [partLabel, valueLabel, example] = PARTS[shape];
  const send = async (event: Event) => {
    event.preventDefault();
    const work = async () => {
      if ((await command(id, 'EXISTS', name.value)) !== 0)
        throw new CallError(409, 'There is a key of that name already.');
      const end = ttl.value === '' ? [] : [['EXPIRE', name.value, ttl.value]];
      await done(id, [firstCommand(shape, name.value, part.value, value.value), ...end]);
    };
    if (!(await doing(work, 'It is there.'))) return;
    onClose();
    onMade(binaryOfText(name.value));
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      <form class="stack" onSubmit={send}>
        <div class="form-grid">
          <TextField label="Name" value={name} isRequired placeholder="user:1" />
          <Choice label="Type" value={type} options={SHOWN_TYPES.map((one) => [one, TYPE_LABELS[one]] as const)} />
        </div>
        {partLabel !== undefined && <TextField label={partLabel} value={part} isRequired />}
        <TextField label={valueLabel} value={value} isLong placeholder={example} />
        <TextField label="Expires after seconds" type="number" value={ttl} hint="Empty: it stays." />
        <SubmitButton isDisabled={name.value === ''}>Make it</SubmitButton>
      </form>
    </Dialog>
  );
}

function firstCommand(type: KeyType, name: string, part: string, value: string): Words {
  switch (type) {
    case 'string':
      return ['SET', name, value, 'NX'];
    case 'hash':
      return ['HSET', name, part, value];
    case 'list':
      return ['RPUSH', name, value];
    case 'set':
      return ['SADD', name, value];
    case 'zset':
      return ['ZADD', name, part, value];
    case 'stream':
      return ['XADD', name, '*', part, value];
    case 'array':
      return ['ARSET', name, part, value];
    case 'vector':
      return ['VECTOR.CREATE', name, 'DIM', part, 'METRIC', value];
    case 'vectorset': {
      const numbers = value.trim().split(/\s+/);
      return ['VADD', name, 'VALUES', String(numbers.length), ...numbers, part];
    }
    case 'ReJSON-RL':
      return ['JSON.SET', name, '$', value, 'NX'];
    case 'MBbloom--':
      return ['BF.RESERVE', name, part, value];
    case 'MBbloomCF':
      return ['CF.RESERVE', name, value];
    case 'CMSk-TYPE':
      return ['CMS.INITBYDIM', name, part, value];
    case 'TopK-TYPE':
      return ['TOPK.RESERVE', name, value];
    case 'TDIS-TYPE':
      return ['TDIGEST.CREATE', name, 'COMPRESSION', value];
    case 'search':
      return ['SEARCH.CREATE', name, ...value.trim().split(/\s+/)];
  }
}
