import { call } from "./api";

/** How the cloud is doing, in figures. Times are milliseconds since 1970, sizes bytes. */
export interface Statistics {
  time: number;
  counts: {
    users: { all: number; administrators: number; members: number; viewers: number; disabled: number };
    devices: number;
    streams: number;
    points: { ever: number; last_hour: number; last_day: number };
  };
  since_start: {
    started: number;
    sessions: number;
    live_feeds: number;
    requests: number;
    handshakes: number;
    failed_handshakes: number;
    faults: number;
    refusals: RefusalCount[];
  };
  files: { database: number; database_log: number; record: number; other: number };
  backups: { last: number | null; oldest: number | null; count: number | null };
}

export interface RefusalCount {
  scheme: string;
  reason: string;
  count: number;
}

export const statistics = () => call<Statistics>("/statistics");
