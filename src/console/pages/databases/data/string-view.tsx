/** The value of a string. Only the beginning of a long one is loaded at first. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAsk } from '../../../api/ask.js';
import { CallError } from '../../../api/call.js';
import { beginningOf, command, textOf, wordOf } from '../../../api/kv.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { SmallButton } from '../../../parts/button.js';
import { bytes } from '../../../parts/format.js';
import { setter } from '../../../parts/setter.js';
import { Shown } from '../../../parts/states.js';
import { said } from '../../../parts/toast.js';
import type { TypeViewProps } from './key-record.js';
import { ValueEditor } from './value-editor.js';

/** Bytes loaded at first; a longer value must be loaded completely before it can be edited. */
const FIRST_BYTES = 64 * 1_024;
/** The size of a console request, reduced for JSON encoding. */
const MAX_EDITED_BYTES = 2 * 1_024 * 1_024;

export function StringView({ id, name, record, onChanged }: TypeViewProps) {
  const isWhole = useSignal(false);
  const asked = useAsk(`${id} ${name} ${isWhole.value}`, () => loadedValue(id, name, isWhole.value));
  const bytesShown = useRef(record.bytes);
  // Not part of the request's key: a new key would drop the old answer and the text being typed.
  useEffect(() => {
    if (bytesShown.current === record.bytes) return;
    bytesShown.current = record.bytes;
    void asked.reload();
  }, [record.bytes, asked.reload]);
  const save = async (binary: string) => {
    const done = await command(id, 'SET', wordOf(name), wordOf(binary), 'XX', 'KEEPTTL');
    if (done === null) throw new CallError(409, 'The key is gone: it expired, or was deleted.');
    said('Saved.');
    await asked.reload();
    onChanged();
  };
  return (
    <Shown asked={asked}>
      {({ value, length }) => {
        const isCut = value.length < length;
        return (
          <>
            {isCut && (
              <div class="note">
                <span class="grow">
                  The first {bytes(value.length)} of {bytes(length)}.
                </span>
                {textOf(value) === undefined ? (
                  'A binary value is only loaded in part: use a client.'
                ) : (
                  <SmallButton onClick={setter(isWhole, true)}>Load all</SmallButton>
                )}
              </div>
            )}
            <ValueEditor
              key={String(isCut)}
              label="Value"
              value={value}
              rows={16}
              isReadOnly={isCut || !mayChangeDatabases.value || length > MAX_EDITED_BYTES}
              save={save}
            />
          </>
        );
      }}
    </Shown>
  );
}

async function loadedValue(id: string, name: string, isWhole: boolean) {
  const key = wordOf(name);
  const length = Number(await command(id, 'STRLEN', key));
  const words =
    isWhole || length <= FIRST_BYTES ? (['GET', key] as const) : (['GETRANGE', key, 0, FIRST_BYTES - 1] as const);
  const value = String((await command(id, ...words)) ?? '');
  return { value: value.length < length ? beginningOf(value, value.length) : value, length };
}
