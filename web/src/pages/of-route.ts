import { LazyPage } from "../lazy-page";
import type { Desk, Page } from "../page";
import type { Route } from "../route";
import { AccountPage } from "./account";
import { AlertsPage } from "./alerts";
import { AuditPage } from "./audit";
import { ChannelsPage } from "./channels";
import { DevicePage } from "./device";
import { DeviceSettingsPage } from "./device-settings";
import { DevicesPage } from "./devices";
import { FollowedPage } from "./followed";
import { GroupsPage } from "./groups";
import { NetworkPage } from "./network";
import { OverviewPage } from "./overview";
import { ProfilesPage } from "./profiles";
import { PublicPage } from "./public";
import { RulesPage } from "./rules";
import { SharedStreamPage } from "./shared-stream";
import { StatisticsPage } from "./statistics";
import { UsersPage } from "./users";

/** The page of an address; what is for administrators only leads others to the overview. */
export function pageOf(route: Route, desk: Desk): Page {
  switch (route.page) {
    case "device":
      return new DevicePage(desk, route.resource);
    case "settings":
      return new DeviceSettingsPage(desk, route.resource);
    case "devices":
      return new DevicesPage(desk);
    case "map":
      return new LazyPage("Map", async () => new (await import("./map")).MapPage(desk));
    case "api":
      return new LazyPage("API help", async () => new (await import("./api-help")).ApiHelpPage(desk));
    case "profiles":
      return new ProfilesPage(desk);
    case "alerts":
      return new AlertsPage(desk);
    case "rules":
      return new RulesPage(desk);
    case "channels":
      return new ChannelsPage(desk);
    case "network":
      return new NetworkPage();
    case "account":
      return new AccountPage(desk);
    case "users":
      return desk.user.admin ? new UsersPage(desk) : new OverviewPage(desk);
    case "audit":
      return desk.user.admin ? new AuditPage(desk) : new OverviewPage(desk);
    case "statistics":
      return desk.user.admin ? new StatisticsPage(desk) : new OverviewPage(desk);
    case "followed":
      return new FollowedPage(desk);
    case "groups":
      return new GroupsPage(desk);
    case "public":
      return new PublicPage();
    case "stream":
      return new SharedStreamPage(route.stream, route.token, desk);
    case "overview":
      return new OverviewPage(desk);
  }
}
