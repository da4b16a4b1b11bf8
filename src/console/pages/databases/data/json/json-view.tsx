/** A JSON document as a tree or as text. */
import { useSignal } from '@preact/signals';
import { useAsk } from '../../../../api/ask.js';
import { binaryOfText, command, textOf, wordOf } from '../../../../api/kv.js';
import { mayChangeDatabases } from '../../../../api/session.js';
import { SmallButton } from '../../../../parts/button.js';
import { bytes } from '../../../../parts/format.js';
import { setter } from '../../../../parts/setter.js';
import { Shown } from '../../../../parts/states.js';
import { said } from '../../../../parts/toast.js';
import type { TypeViewProps } from '../key-record.js';
import { ValueEditor } from '../value-editor.js';
import { JsonTree } from './json-tree.js';

/** A larger document is loaded on demand. */
const UNASKED_BYTES = 1_024 * 1_024;

export function JsonView({ id, name, record, onChanged }: TypeViewProps) {
  const isWanted = useSignal(record.bytes <= UNASKED_BYTES);
  if (isWanted.value) return <LoadedJson id={id} name={name} onChanged={onChanged} />;
  return (
    <div class="note">
      <span class="grow">The document takes {bytes(record.bytes)}.</span>
      <SmallButton onClick={setter(isWanted, true)}>Load all</SmallButton>
    </div>
  );
}

function LoadedJson({ id, name, onChanged }: Omit<TypeViewProps, 'record'>) {
  const isText = useSignal(false);
  const key = wordOf(name);
  const asked = useAsk(`${id} ${name}`, async () => textOf(String((await command(id, 'JSON.GET', key)) ?? 'null')));
  const change = async (...words: readonly string[]) => {
    const [first = '', ...rest] = words;
    await command(id, first, key, ...rest);
    said('Saved.');
    await asked.reload();
    onChanged();
  };
  const save = (binary: string) => change('JSON.SET', '$', textOf(binary) ?? '');
  return (
    <div class="stack tight">
      <fieldset class="choices">
        <legend class="visually-hidden">Shown as</legend>
        {(['Tree', 'Document'] as const).map((label) => (
          <SmallButton
            key={label}
            aria-pressed={isText.value === (label === 'Document')}
            onClick={() => {
              isText.value = label === 'Document';
            }}
          >
            {label}
          </SmallButton>
        ))}
      </fieldset>
      <Shown asked={asked}>
        {(text = 'null') =>
          isText.value ? (
            <ValueEditor
              label="Document"
              value={binaryOfText(text)}
              rows={20}
              isReadOnly={!mayChangeDatabases.value}
              save={save}
            />
          ) : (
            <JsonTree text={text} change={change} />
          )
        }
      </Shown>
    </div>
  );
}
