/** The table of alert rules with their states and actions. */
import { manage } from '../../api/call.js';
import { mayChangeAlerts } from '../../api/session.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { asked } from '../../parts/dialog.js';
import { type MenuItem, RowMenu } from '../../parts/row-menu.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { Channel } from './channel.js';
import { bodyOf } from './rule-form.js';
import { type Rule, sentenceOf } from './rule-words.js';

export interface RulesProps {
  readonly rules: readonly Rule[];
  onDone(): Promise<void>;
  onEdit(rule: Rule): void;
  onTest(rule: Rule): void;
}

const TONES: Readonly<Record<Rule['state'], Tone>> = { ok: 'good', firing: 'bad', silenced: 'plain', off: 'plain' };
const SILENCES = [
  ['1 hour', 3_600],
  ['8 hours', 8 * 3_600],
  ['1 day', 86_400],
  ['1 week', 7 * 86_400],
] as const;

export function Rules(props: RulesProps) {
  const rows = props.rules.toSorted((a, b) => rankOf(a) - rankOf(b));
  return <Table label="Alert rules" rows={rows} idOf={({ rule_id }) => rule_id} columns={columnsFor(props)} />;
}

/** Firing rules come first, built-in ones last. */
function rankOf({ state, built_in }: Rule): number {
  if (state === 'firing') return 0;
  return built_in ? 2 : 1;
}

function columnsFor(props: RulesProps): readonly Column<Rule>[] {
  return [
    { title: 'State', cell: (rule) => <State rule={rule} /> },
    {
      title: 'Rule',
      cell: (rule) => (
        <span class="rule-name">
          <span class="row">
            <strong class="wrap-anywhere" dir="auto">
              {rule.name}
            </strong>
            {rule.built_in && <Badge>built-in</Badge>}
          </span>
          <span class="small muted wrap-anywhere" dir="auto">
            {sentenceOf(rule)}
          </span>
        </span>
      ),
    },
    {
      title: 'Channels',
      cell: ({ channels }) =>
        channels.length === 0 ? (
          <span class="small muted">none: only shown here</span>
        ) : (
          <span class="channels">
            {channels.map((channel) => (
              <Channel key={`${channel.type} ${channel.address}`} channel={channel} />
            ))}
          </span>
        ),
    },
    ...(mayChangeAlerts.value
      ? [{ title: 'Actions', cell: (rule: Rule) => <RuleActions {...{ ...props, rule }} /> }]
      : []),
  ];
}

function State({ rule: { state, firing, firing_since, silent_until } }: { readonly rule: Rule }) {
  return (
    <span class="rule-state">
      <Badge tone={TONES[state]}>{state}</Badge>
      {state === 'firing' && (
        <span class="small muted nowrap">
          {firing > 1 && `${firing} · `}
          <Time at={firing_since * 1_000} as="past" />
        </span>
      )}
      {state === 'silenced' && (
        <span class="small muted nowrap">
          ends <Time at={silent_until * 1_000} as="ago" />
        </span>
      )}
    </span>
  );
}

function RuleActions({ rule, onDone, onEdit, onTest }: RulesProps & { readonly rule: Rule }) {
  const { rule_id: id, name, enabled, channels, built_in, silent_until } = rule;
  const path = { id };
  const change = async (work: () => Promise<unknown>, done: string) => {
    if (await doing(work, done)) await onDone();
  };
  const silence = (seconds: number, done: string) =>
    change(() => manage('POST /v2/alerts/{id}/silence', { path, body: { seconds } }), done);
  const toggle = () =>
    change(
      () => manage('PUT /v2/alerts/{id}', { path, body: { ...bodyOf(rule), enabled: !enabled } }),
      enabled ? `${name} is off.` : `${name} is on.`,
    );
  const remove = async () => {
    const text = 'Its open alerts end without a notice. The history keeps them.';
    if (!(await asked({ title: `Delete the rule ${name}?`, text, action: 'Delete', isDangerous: true }))) return;
    await change(() => manage('DELETE /v2/alerts/{id}', { path }), `${name} is deleted.`);
  };
  const silences: readonly MenuItem[] =
    silent_until > 0
      ? [{ label: 'End the silence', onChoose: () => void silence(0, `${name} is not silenced any more.`) }]
      : SILENCES.map(([label, seconds]) => ({
          label: `Silence for ${label}`,
          onChoose: () => void silence(seconds, `${name} is silenced for ${label}.`),
        }));
  return (
    <RowMenu
      label={`Actions of ${name}`}
      items={[
        { label: 'Edit', onChoose: () => onEdit(rule) },
        ...(channels.length > 0 ? [{ label: 'Send a test', onChoose: () => onTest(rule) }] : []),
        ...(enabled ? silences : []),
        { label: enabled ? 'Turn off' : 'Turn on', onChoose: () => void toggle() },
        ...(built_in ? [] : [{ label: 'Delete', isDangerous: true, onChoose: () => void remove() }]),
      ]}
    />
  );
}
