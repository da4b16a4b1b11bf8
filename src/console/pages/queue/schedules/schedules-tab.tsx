import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { usePageQuery } from '../../../api/query.js';
import { mayChangeQueues } from '../../../api/session.js';
import { Badge } from '../../../parts/badge.js';
import { Icon } from '../../../parts/icon.js';
import { useSeen } from '../../../parts/seen.js';
import { Shown } from '../../../parts/states.js';
import { type Column, Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import { NothingYet } from '../nothing-yet.js';
import type { Schedule, TabProps } from '../tab.js';
import { CronWords } from './cron-words.js';
import { EditSchedule } from './edit-schedule.js';
import { ScheduleActions } from './schedule-actions.js';
import { ScheduleResults } from './schedule-results.js';
import { ScheduleTicks, useNextTicks } from './schedule-ticks.js';

const EVERY_MS = 10_000;
/** Ticks to come in a row. */
const TO_COME = 5;

export function SchedulesTab({ account }: TabProps) {
  const [{ edit, ticks }, set] = usePageQuery();
  const asked = useAsk(account, () => ofQueue(account, 'GET /v2/schedules'), EVERY_MS);
  const columns = useColumns(account, asked.reload);
  const close = () => {
    set({ edit: undefined, ticks: undefined });
    asked.reload();
  };
  const links = useLinks();
  return (
    <Shown asked={asked}>
      {(schedules) => {
        if (edit !== undefined && mayChangeQueues.value) {
          const schedule = schedules.find(({ scheduleId }) => scheduleId === edit);
          return <EditSchedule key={edit} {...{ account, schedule }} onClose={close} />;
        }
        const shown = schedules.find(({ scheduleId }) => scheduleId === ticks);
        return (
          <>
            {mayChangeQueues.value && (
              <div class="row list-head">
                <a class="button" href={links.queue({ tab: 'schedules', edit: '-' })}>
                  <Icon name="plus" />
                  New schedule
                </a>
              </div>
            )}
            <Table
              label="Schedules"
              columns={columns}
              rows={schedules}
              idOf={({ scheduleId }) => scheduleId}
              empty={
                <NothingYet
                  title="There are no schedules"
                  call="/v2/schedules/https://example.com -H 'Svc-Cron: 0 8 * * 1' -d hello"
                >
                  A schedule publishes a message by a timetable.
                </NothingYet>
              }
            />
            {shown !== undefined && <ScheduleTicks account={account} schedule={shown} onClose={close} />}
          </>
        );
      }}
    </Shown>
  );
}

function useColumns(account: string, onDone: () => void): readonly Column<Schedule>[] {
  const links = useLinks();
  return [
    {
      title: 'Schedule',
      cell: ({ scheduleId, destination, method, isPaused }) => (
        <span class="message-name">
          <span class="row">
            <a dir="auto" href={links.queue({ tab: 'schedules', ticks: scheduleId })}>
              {scheduleId}
            </a>
            {isPaused && <Badge>paused</Badge>}
          </span>
          <span class="small muted cut" dir="auto" title={destination}>
            {method} {destination}
          </span>
        </span>
      ),
    },
    {
      title: 'Timetable',
      cell: ({ cron }) => (
        <span title={cron}>
          <CronWords cron={cron} />
        </span>
      ),
    },
    { title: `Next ${TO_COME} ticks`, cell: (schedule) => <NextTicks account={account} schedule={schedule} /> },
    { title: 'Last results', cell: (schedule) => <LastResults account={account} schedule={schedule} /> },
    ...(mayChangeQueues.value
      ? [
          {
            title: 'Actions',
            cell: (schedule: Schedule) => <ScheduleActions {...{ account, schedule, onDone }} />,
          },
        ]
      : []),
  ];
}

interface CellProps {
  readonly account: string;
  readonly schedule: Schedule;
}

function NextTicks({ account, schedule }: CellProps) {
  const [box, isSeen] = useSeen<HTMLSpanElement>();
  const [first, ...later] = useNextTicks(account, schedule, isSeen ? TO_COME : 1).data ?? [];
  if (schedule.isPaused) return <span class="muted">–</span>;
  return (
    <span ref={box}>
      <Time at={first ?? schedule.nextScheduleTime} as="ago" />
      {later.length > 0 && (
        <span class="small muted">
          {later.map((at) => (
            <span key={at}>
              , <Time at={at} as="ago" />
            </span>
          ))}
        </span>
      )}
    </span>
  );
}

function LastResults({ account, schedule: { scheduleId, lastScheduleTime } }: CellProps) {
  const [box, isSeen] = useSeen<HTMLSpanElement>();
  return (
    <span ref={box}>
      <ScheduleResults account={account} scheduleId={scheduleId} isSeen={isSeen} />
      {lastScheduleTime !== undefined && (
        <span class="small muted">
          <Time at={lastScheduleTime} as="past" />
        </span>
      )}
    </span>
  );
}
