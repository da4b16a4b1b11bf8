/** Creating, reading, renaming, moving and deleting databases. */

import { cancellingOf } from '../../../domain/control/index.js';
import { listOf, OK_ANSWER, OK_TEXT, one } from '../../http/answer-shape.js';
import { mustBeAllowed } from '../../team-permissions.js';
import { DatabaseAnswer, databaseAnswer } from '../answers/database-answer.js';
import { DatabaseStatisticsAnswer, databaseStatisticsAnswer } from '../answers/database-statistics.js';
import { DatabasesStatisticsAnswer, databasesStatisticsAnswer } from '../answers/databases-statistics.js';
import { chargesOfDatabase, statisticsOf } from '../charges.js';
import { EXAMPLE_ID } from '../example-id.js';
import { teamOfCaller } from '../ids.js';
import { type ManagementRoute, managementRoute } from '../management-call.js';
import { newDatabaseOf } from '../new-database.js';
import { changedDatabase, databaseIn, databasesOf } from '../owned.js';
import {
  ChangePartitionsRequest,
  CreateDatabaseRequest,
  CredentialsQuery,
  endOfPeriod,
  MoveDatabaseRequest,
  PeriodQuery,
  RenameDatabaseRequest,
} from '../requests/database-requests.js';

export const DATABASE_ROUTES: readonly ManagementRoute[] = [
  managementRoute('GET /v2/kv/databases', {
    answersSome: true,
    summary: 'Lists the databases of the account, oldest first.',
    permission: 'databases:read',
    answer: listOf(DatabaseAnswer),
    async handle(call) {
      return (await databasesOf(call)).map((database) => databaseAnswer(call, database));
    },
  }),

  managementRoute('POST /v2/kv/database', {
    summary: 'Makes a database.',
    permission: 'databases:change',
    body: CreateDatabaseRequest,
    example: { database_name: 'one', region: 'global', primary_region: 'eu-west-1' },
    answer: one(DatabaseAnswer),
    async handle(call, { body }) {
      const wanted = await newDatabaseOf(call, body);
      const about = { action: 'createDatabase', entity: wanted.name } as const;
      const { database } = await call.change({ type: 'CreateDatabase', database: wanted }, 'OneDatabase', about);
      return databaseAnswer(call, database);
    },
  }),

  managementRoute('GET /v2/kv/database/:id', {
    summary: 'Shows a database.',
    permission: 'databases:read',
    query: CredentialsQuery,
    answer: one(DatabaseAnswer),
    async handle(call, { path, query }) {
      return databaseAnswer(call, await databaseIn(call, path.id), query.credentials === 'hide');
    },
  }),

  managementRoute('DELETE /v2/kv/database/:id', {
    summary: 'Deletes a database with all that it holds.',
    permission: 'databases:change',
    answer: OK_ANSWER,
    async handle(call, { path }) {
      const { id, name } = await databaseIn(call, path.id);
      const about = { action: 'deleteDatabase', entity: name } as const;
      const { database } = await call.change({ type: 'DeleteDatabase', database: id }, 'OneDatabase', about);
      // Only after no token opens the database: later writes would not be removed.
      call.endpoint.parts.removal?.remove(id, database.partitions);
      return OK_TEXT;
    },
  }),

  managementRoute('POST /v2/kv/rename/:id', {
    summary: 'Gives a database another name.',
    permission: 'databases:change',
    body: RenameDatabaseRequest,
    example: { name: 'two' },
    answer: one(DatabaseAnswer),
    async handle(call, { path, body: { name } }) {
      return databaseAnswer(call, await changedDatabase(call, path.id, 'renameDatabase', () => ({ name }), name));
    },
  }),

  managementRoute('POST /v2/kv/partitions/:id', {
    summary: 'Begins to change the number of partitions of a database, while it serves.',
    description:
      'The keys are copied and compared; requests wait for a moment while the last changes are copied. `layout_change` of the database shows the progress. With several partitions, the keys of one command, transaction or script have to be in one hash slot. A database with branches is refused.',
    permission: 'databases:change',
    body: ChangePartitionsRequest,
    example: { partitions: 4 },
    answer: one(DatabaseAnswer),
    async handle(call, { path, body: { partitions } }) {
      const { id, name } = await databaseIn(call, path.id);
      const command = { type: 'ChangePartitions', database: id, partitions } as const;
      const about = { action: 'changePartitions', entity: name, secondary: String(partitions) } as const;
      return databaseAnswer(call, (await call.change(command, 'OneDatabase', about)).database);
    },
  }),

  managementRoute('DELETE /v2/kv/partitions/:id', {
    summary: 'Cancels a change of the number of partitions that is not complete.',
    permission: 'databases:change',
    answer: one(DatabaseAnswer),
    async handle(call, { path }) {
      const { id, name, layoutChange } = await databaseIn(call, path.id);
      const about = { action: 'cancelPartitions', entity: name } as const;
      return databaseAnswer(call, (await call.change(cancellingOf(id, layoutChange), 'OneDatabase', about)).database);
    },
  }),

  managementRoute('POST /v2/kv/reset-password/:id', {
    summary: 'Replaces the password and tokens of a database; the old ones are refused from then on.',
    permission: 'databases:change',
    answer: one(DatabaseAnswer),
    async handle(call, { path }) {
      const { id, name } = await databaseIn(call, path.id);
      const command = { type: 'ResetPassword', database: id, secrets: call.endpoint.secrets.ofDatabase() } as const;
      const about = { action: 'resetPassword', entity: name } as const;
      return databaseAnswer(call, (await call.change(command, 'OneDatabase', about)).database);
    },
  }),

  managementRoute('POST /v2/kv/move-to-team', {
    summary: 'Moves a database to a team in which the caller may make databases.',
    permission: 'databases:change',
    body: MoveDatabaseRequest,
    example: { database_id: EXAMPLE_ID, team_id: EXAMPLE_ID },
    answer: OK_ANSWER,
    async handle(call, { body }) {
      const { id, name } = await databaseIn(call, body.database_id);
      const found = await teamOfCaller(call, body.team_id);
      mustBeAllowed(found, 'databases:change');
      const { team } = found;
      const command = { type: 'MoveDatabase', account: call.account, database: id, to: team.id } as const;
      const about = { action: 'moveDatabase', entity: name, secondary: team.name } as const;
      await call.change(command, 'OneDatabase', about);
      return OK_TEXT;
    },
  }),

  managementRoute('GET /v2/kv/stats', {
    answersSome: true,
    summary: 'Shows the usage of all databases of the account together, and of each this month.',
    permission: 'databases:read',
    query: PeriodQuery,
    answer: one(DatabasesStatisticsAnswer),
    async handle(call, { query }) {
      const { period = '1h' } = query;
      const ids = (await databasesOf(call)).map(({ id }) => id);
      return databasesStatisticsAnswer(
        call.shows(await statisticsOf(call).databases(ids, period, endOfPeriod(query, call.nowMs))),
      );
    },
  }),

  managementRoute('GET /v2/kv/stats/:id', {
    summary: 'Shows the usage of a database.',
    permission: 'databases:read',
    query: PeriodQuery,
    answer: one(DatabaseStatisticsAnswer),
    async handle(call, { path, query }) {
      const { period = '1h' } = query;
      const database = await databaseIn(call, path.id);
      const nowMs = endOfPeriod(query, call.nowMs);
      const series = call.shows(await statisticsOf(call).database(database.id, period, nowMs));
      return databaseStatisticsAnswer(series, nowMs, chargesOfDatabase(call, database));
    },
  }),
];
