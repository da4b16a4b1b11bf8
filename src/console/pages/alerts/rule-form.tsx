/** Creates or changes an alert rule. */
import { type Signal, useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { manage } from '../../api/call.js';
import { SmallButton } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Check, Choice, Field, SubmitRow, TextField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { doing } from '../../parts/toast.js';
import { CHANNEL_TYPES, type ChannelType } from './channel.js';
import { KINDS, type Kind, type Rule, sentenceOf, time, WINDOWS } from './rule-words.js';

export interface RuleFormProps {
  readonly rule: Rule | undefined;
  readonly hasMail: boolean;
  onClose(): void;
}

type Channels = readonly { readonly type: ChannelType; readonly address: string }[];

const MAX_CHANNELS = 5;
const NEW_KINDS = (Object.keys(KINDS) as Kind[]).filter((kind) => KINDS[kind].isBuiltIn !== true);
const FIRST: Kind = 'dead-letters';

/** The body that keeps a rule as it is. */
export function bodyOf({
  name,
  kind,
  target,
  threshold,
  window,
  channels,
  enabled,
}: Rule): Schemas['AlertRuleRequest'] {
  return { name, kind, target, threshold, window, channels: [...channels], enabled };
}

export function RuleForm({ rule, hasMail, onClose }: RuleFormProps) {
  const kind = useSignal<string>(rule?.kind ?? FIRST);
  const name = useSignal(rule?.name ?? '');
  const target = useSignal(rule?.target ?? '');
  const threshold = useSignal(String(rule?.threshold ?? KINDS[FIRST].threshold ?? 0));
  const window = useSignal(String(rule?.window ?? KINDS[FIRST].window ?? 0));
  const channels = useSignal<Channels>(rule?.channels ?? []);
  const isEnabled = useSignal(rule?.enabled ?? true);
  const words = KINDS[kind.value as Kind];
  const body = (): Schemas['AlertRuleRequest'] => ({
    name: name.value.trim() || words.label,
    kind: kind.value as Kind,
    target: words.target === undefined ? '' : target.value.trim(),
    threshold: Number(threshold.value),
    window: words.window === undefined ? 0 : Number(window.value),
    channels: channels.value.map(({ type, address }) => ({ type, address: address.trim() })),
    enabled: isEnabled.value,
  });
  const save = async (event: Event) => {
    event.preventDefault();
    const sent = body();
    const isSaved = await doing(
      () =>
        rule === undefined
          ? manage('POST /v2/alerts', { body: sent })
          : manage('PUT /v2/alerts/{id}', { path: { id: rule.rule_id }, body: sent }),
      `${sent.name} is saved.`,
    );
    if (isSaved) onClose();
  };
  return (
    <Dialog title={rule === undefined ? 'New alert rule' : `Rule ${rule.name}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {rule === undefined && <KindChoice {...{ kind, threshold, window, target }} />}
        <TextField label="Name" value={name} placeholder={words.label} />
        {words.target !== undefined && (
          <TextField
            label={words.target}
            value={target}
            isRequired={words.isTargetRequired === true}
            {...(words.isTargetRequired !== true && { hint: 'Empty: all.' })}
          />
        )}
        <Numbers words={words} threshold={threshold} window={window} />
        <p class="note">
          Fires when: <span dir="auto">{sentenceOf({ ...body(), target: target.value || '…' } as Rule)}.</span>
        </p>
        <ChannelFields channels={channels} hasMail={hasMail} />
        <Check label="The rule is on" value={isEnabled} />
        <SubmitRow>Save</SubmitRow>
      </form>
    </Dialog>
  );
}

interface NumbersProps {
  readonly words: (typeof KINDS)[Kind];
  readonly threshold: Signal<string>;
  readonly window: Signal<string>;
}

function Numbers({ words: { unit, window: hasWindow }, threshold, window }: NumbersProps) {
  return (
    <div class="rule-numbers">
      {unit !== undefined && <TextField label={`Threshold (${unit})`} type="number" value={threshold} isRequired />}
      {hasWindow !== undefined && <Choice label="Within" value={window} options={windowsWith(window.value)} />}
    </div>
  );
}

interface KindChoiceProps {
  readonly kind: Signal<string>;
  readonly threshold: Signal<string>;
  readonly window: Signal<string>;
  readonly target: Signal<string>;
}

/** Another kind begins with its own numbers. */
function KindChoice({ kind, threshold, window, target }: KindChoiceProps) {
  const choose = (next: Kind) => {
    kind.value = next;
    threshold.value = String(KINDS[next].threshold ?? 0);
    window.value = String(KINDS[next].window ?? 0);
    target.value = '';
  };
  return (
    <Field label="Watches">
      <select value={kind.value} onChange={({ currentTarget }) => choose(currentTarget.value as Kind)}>
        {NEW_KINDS.map((one) => (
          <option key={one} value={one}>
            {KINDS[one].label}
          </option>
        ))}
      </select>
    </Field>
  );
}

function windowsWith(current: string): readonly (readonly [string, string])[] {
  const all = new Set<number>([...WINDOWS, Number(current)]);
  return [...all].sort((a, b) => a - b).map((seconds) => [String(seconds), time(seconds)]);
}

const PLACEHOLDERS: Readonly<Record<ChannelType, string>> = {
  webhook: 'https://pager.example.com/alerts',
  slack: 'https://hooks.slack.com/services/…',
  email: 'ops@example.com',
};

function ChannelFields({ channels, hasMail }: { readonly channels: Signal<Channels>; readonly hasMail: boolean }) {
  const put = (at: number, over: Partial<Channels[number]>) => {
    channels.value = channels.value.map((one, place) => (place === at ? { ...one, ...over } : one));
  };
  const types = CHANNEL_TYPES.filter(([type]) => type !== 'email' || hasMail);
  return (
    <fieldset class="channel-fields">
      <legend>Channels</legend>
      {channels.value.map(({ type, address }, at) => (
        <div key={at} class="channel-field">
          <select
            aria-label={`Type of channel ${at + 1}`}
            value={type}
            onChange={({ currentTarget }) => put(at, { type: currentTarget.value as ChannelType })}
          >
            {types.map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
          <input
            type={(type === 'email' ? 'email' : 'url') as 'url'}
            aria-label={`Address of channel ${at + 1}`}
            value={address}
            placeholder={PLACEHOLDERS[type]}
            required
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => put(at, { address: currentTarget.value })}
          />
          <button
            type="button"
            class="button quiet icon"
            aria-label={`Remove channel ${at + 1}`}
            onClick={() => {
              channels.value = channels.value.filter((_, place) => place !== at);
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {channels.value.length === 0 && <p class="small muted">Without a channel the alert is only shown here.</p>}
      <div>
        <SmallButton
          disabled={channels.value.length >= MAX_CHANNELS}
          onClick={() => {
            channels.value = [...channels.value, { type: 'webhook', address: '' }];
          }}
        >
          <Icon name="plus" />
          Add a channel
        </SmallButton>
      </div>
    </fieldset>
  );
}
