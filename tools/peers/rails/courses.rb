# Two parts of examples/courses on Rails: the list of courses with filters and pages, and booking with a waiting list.
# Signing in, mails and languages are left out: the header field X-Account has the number of the user.
#
# Debian: apt-get install ruby-railties ruby-activerecord ruby-actionview ruby-sqlite3 ruby-rack-test
# Test: ruby courses_test.rb
ENV["DATABASE_URL"] = "sqlite3:#{ENV.fetch("COURSES_DATABASE")}"
require "action_controller/railtie"
require "active_record/railtie"

class Courses < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.secret_key_base = "x" * 64
  config.logger = Logger.new($stderr)
  config.log_level = :error
  config.eager_load = true
  config.hosts.clear
  config.session_store :cookie_store, key: "courses"
  routes.append do
    resources :courses, only: [:index, :show] do
      resource :booking, only: [:create] do
        post :cancel
      end
    end
  end
end
Courses.initialize!

class Account < ActiveRecord::Base
  self.table_name = "account"
end

class Booking < ActiveRecord::Base
  self.table_name = "booking"
  belongs_to :course
  belongs_to :account
end

class Course < ActiveRecord::Base
  PAGE = 12
  LEVELS = { "beginner" => "For beginners", "advanced" => "Advanced", "all" => "For everybody" }.freeze

  self.table_name = "course"
  has_many :bookings
  scope :upcoming, -> { where("starts > ?", Time.now.utc.iso8601).order(:starts, :id) }

  def free = places - taken

  def places_left
    case free
    when 0 then "Waiting list"
    when 1 then "One place is left"
    else "#{free} places are left"
    end
  end

  # Who has a place already keeps it.
  def book(account)
    with_lock_for_booking do
      next if starts <= Time.now.utc.iso8601
      bookings.find_by(account: account) || bookings.create!(account: account, waiting: free.zero?).tap do |booking|
        increment!(:taken) unless booking.waiting
      end
    end
  end

  # Who waits moves up.
  def cancel(account)
    with_lock_for_booking do
      booking = bookings.find_by(account: account)
      decrement!(:taken) if booking&.destroy && !booking.waiting
      bookings.where(waiting: true).order(:id).limit(free).each do |first|
        first.update!(waiting: false)
        increment!(:taken)
      end
    end
  end

  private

  # SQLite has no row locks: a write takes the lock of the database.
  def with_lock_for_booking
    transaction do
      self.class.where(id: id).update_all("taken = taken")
      reload
      yield
    end
  end
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception, unless: -> { request.headers["Sec-Fetch-Site"] == "same-origin" }
  prepend_view_path File.join(__dir__, "views")
  before_action { @account = Account.find_by(id: request.headers["X-Account"]) }
  rescue_from(ActiveRecord::RecordNotFound) { head :not_found }
  rescue_from(ActionController::InvalidAuthenticityToken) { head :forbidden }

  private

  def require_account = @account || head(:unauthorized)
end

class CoursesController < ApplicationController
  before_action :require_account, only: :show

  def index
    @level, @trainer = params[:level].presence, params[:trainer].presence
    return head(:bad_request) unless @level.nil? || Course::LEVELS.key?(@level)
    @trainers = Account.where(role: "trainer").order(:name)
    courses = Course.upcoming
    courses = courses.where(level: @level) if @level
    courses = courses.where(trainer_id: @trainer) if @trainer
    starts, id = params[:after].to_s.split("~")
    courses = courses.where("(starts, id) > (?, ?)", starts, id.to_i) if id
    @courses = courses.limit(Course::PAGE + 1).to_a
    @has_next = @courses.size > Course::PAGE
    @courses = @courses.first(Course::PAGE)
  end

  def show
    @course = Course.find(params[:id])
    @booking = @course.bookings.find_by(account: @account)
  end
end

class BookingsController < ApplicationController
  before_action :require_account
  before_action { @course = Course.find(params[:course_id]) }

  def create
    booking = @course.book(@account) or return head(:conflict)
    redirect_to course_path(@course), notice: booking.waiting ? "You are on the waiting list." : "You are in."
  end

  def cancel
    @course.cancel(@account)
    redirect_to course_path(@course), notice: "Your booking is cancelled."
  end
end
