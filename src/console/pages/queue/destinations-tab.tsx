/** Destinations that fail or are stopped: their breakers, and the rules of these. */
import { useSignal } from '@preact/signals';
import type { Schemas } from '#api';
import { useAsk } from '../../api/ask.js';
import { ofQueue } from '../../api/call.js';
import { mayChangeQueues } from '../../api/session.js';
import { Badge } from '../../parts/badge.js';
import { Button, SmallButton, SmallDangerButton } from '../../parts/button.js';
import { counted, whole } from '../../parts/format.js';
import { setter } from '../../parts/setter.js';
import { Empty, Shown } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { doing } from '../../parts/toast.js';
import { BreakerRules } from './breaker-rules.js';
import { useLinks } from './links.js';
import type { TabProps } from './tab.js';

type Destination = Schemas['Destination'];

const EVERY_MS = 5_000;
const TONES = { closed: 'warn', open: 'bad', disabled: 'bad' } as const;
const MAX_DRAWN = 500;

export function DestinationsTab({ account }: TabProps) {
  const asked = useAsk(`destinations ${account}`, () => ofQueue(account, 'GET /v2/destinations'), EVERY_MS);
  const isSetting = useSignal(false);
  const columns = useColumns(account, asked.reload);
  return (
    <Shown asked={asked}>
      {({ destinations, rules }) => (
        <>
          <div class="row between list-head">
            <p>{rules === undefined ? 'Circuit breakers are off: no destination is stopped.' : sentenceOf(rules)}</p>
            {mayChangeQueues.value && (
              <Button onClick={setter(isSetting, true)}>
                {rules === undefined ? 'Switch circuit breakers on' : 'Change the rules'}
              </Button>
            )}
          </div>
          <Table
            label="Destinations"
            columns={columns}
            rows={destinations.slice(0, MAX_DRAWN)}
            idOf={({ url }) => url}
            empty={<Empty title="No destination is failing" />}
          />
          {isSetting.value && (
            <BreakerRules
              account={account}
              rules={rules}
              onClose={() => {
                isSetting.value = false;
                asked.reload();
              }}
            />
          )}
        </>
      )}
    </Shown>
  );
}

function sentenceOf({ failures, seconds, messages }: Schemas['BreakerRules']): string {
  const fate = messages === 'wait' ? 'its messages wait' : 'its messages go to the DLQ';
  return `A destination is stopped by ${counted(failures ?? 0, 'failure')} in a row over ${whole(seconds ?? 0)} s; ${fate}.`;
}

function useColumns(account: string, onDone: () => void): readonly Column<Destination>[] {
  const links = useLinks();
  return [
    {
      title: 'Destination',
      cell: ({ url, state, reason }) => (
        <span class="row">
          <a class="wrap-anywhere" dir="auto" href={links.queue({ url })}>
            {url}
          </a>
          <Badge tone={TONES[state]}>{state === 'closed' ? 'failing' : state}</Badge>
          {reason === 'gone' && <Badge>gone</Badge>}
        </span>
      ),
    },
    { title: 'Failures', isNumber: true, cell: ({ failures }) => whole(failures) },
    {
      title: 'Since',
      isWideOnly: true,
      cell: ({ failingSince }) => failingSince !== undefined && <Time at={failingSince} as="ago" />,
    },
    {
      title: 'Next probe',
      isWideOnly: true,
      cell: ({ nextProbe }) => nextProbe !== undefined && <Time at={nextProbe} as="ago" />,
    },
    { title: 'Waiting', isNumber: true, cell: ({ waiting }) => whole(waiting) },
    { title: 'Last failure', isWideOnly: true, cell: ({ error = '' }) => <span class="small">{error}</span> },
    ...(mayChangeQueues.value
      ? [{ title: 'Actions', cell: ({ url, state }: Destination) => <Actions {...{ account, url, state, onDone }} /> }]
      : []),
  ];
}

interface ActionsProps extends TabProps, Pick<Destination, 'url' | 'state'> {
  onDone(): void;
}

function Actions({ account, url, state, onDone }: ActionsProps) {
  const enable = (retry: boolean) =>
    doing(
      () => ofQueue(account, 'POST /v2/destinations/enable', { body: { url, retry } }),
      retry ? `${url} is enabled, and its entries of the DLQ are sent again.` : `${url} is enabled.`,
    ).then(onDone);
  const disable = () =>
    doing(() => ofQueue(account, 'POST /v2/destinations/disable', { body: { url } }), `${url} is disabled.`).then(
      onDone,
    );
  return (
    <span class="row">
      <SmallButton onClick={() => void enable(false)}>{state === 'closed' ? 'Forget failures' : 'Enable'}</SmallButton>
      <SmallButton onClick={() => void enable(true)}>Enable and replay</SmallButton>
      {state !== 'disabled' && <SmallDangerButton onClick={() => void disable()}>Disable</SmallDangerButton>}
    </span>
  );
}
